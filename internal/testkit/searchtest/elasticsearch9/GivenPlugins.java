package org.elasticsearch.plugins;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.elasticsearch.env.Environment;

/** Plugins that are objects of this program, where a distribution reads them from folders. */
public final class GivenPlugins extends PluginsService {
  private final List<LoadedPlugin> all;

  public GivenPlugins(Environment environment, Plugin... plugins) {
    super(environment.settings(), environment.configDir(), noFolders());
    all = Stream.of(plugins).map(GivenPlugins::loaded).toList();
  }

  public static PluginsLoader noFolders() {
    return PluginsLoader.createPluginsLoader(Set.of(), Set.of(), Map.of(), false);
  }

  private static LoadedPlugin loaded(Plugin plugin) {
    String name = plugin.getClass().getName();
    PluginDescriptor descriptor = new PluginDescriptor(name, name, "1", "1", "21", name, null, List.of(), false, false, false, false, PluginDescriptor.DeploymentTarget.values()[0]);
    return new LoadedPlugin(descriptor, plugin, plugin.getClass().getClassLoader());
  }

  @Override
  protected List<LoadedPlugin> plugins() {
    return all;
  }
}
