package org.elasticsearch.node;

import java.io.Reader;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.charfilter.MappingCharFilter;
import org.apache.lucene.analysis.charfilter.NormalizeCharMap;
import org.apache.lucene.analysis.core.WhitespaceTokenizer;
import org.apache.lucene.analysis.pattern.PatternTokenizer;
import org.elasticsearch.Build;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.http.HttpServerTransport;
import org.elasticsearch.index.analysis.CharFilterFactory;
import org.elasticsearch.index.analysis.PreConfiguredTokenizer;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.GivenPlugins;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.plugins.PluginsLoader;
import org.elasticsearch.plugins.PluginsService;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.transport.netty4.Netty4Plugin;

/**
 * Runs one node of Elasticsearch's server on a free port, which it prints as the server logs it. The arguments are the
 * folders of the node and of its configuration.
 */
public final class Elasticsearch9 {
  public static void main(String[] args) throws Exception {
    LogConfigurator.configureESLogging();
    Settings settings = Settings.builder().put("path.home", args[0]).put("http.port", 0).build();
    Environment environment = InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), Path.of(args[1]), () -> "test");
    Node node = new Node(NodeConstruction.prepareConstruction(environment, GivenPlugins.noFolders(), new Services(), true));
    node.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
    System.out.println("HttpServerTransport publish_address {" + node.injector().getInstance(HttpServerTransport.class).boundAddress().publishAddress() + "}");
    Thread.currentThread().join(); // until a signal ends the process
  }

  private static void close(Node node) {
    try {
      node.close();
    } catch (Exception e) {
      e.printStackTrace();
    }
  }

  static final class Services extends NodeServiceProvider {
    @Override
    PluginsService newPluginService(Environment environment, PluginsLoader loader) {
      return new GivenPlugins(environment, new Netty4Plugin(), new Modules());
    }
  }

  /** What a distribution has in modules that are not published: parts of analysers, over Lucene's classes, and the answer at the root. */
  public static final class Modules extends Plugin implements AnalysisPlugin, ActionPlugin {
    @Override
    public List<PreConfiguredTokenizer> getPreConfiguredTokenizers() {
      return List.of(PreConfiguredTokenizer.singleton("whitespace", WhitespaceTokenizer::new));
    }

    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
      return Map.of("pattern", AnalysisPlugin.requiresAnalysisSettings((index, environment, name, settings) -> {
        Pattern pattern = Pattern.compile(settings.get("pattern"));
        return TokenizerFactory.newFactory(name, () -> new PatternTokenizer(pattern, -1));
      }));
    }

    @Override
    public Map<String, AnalysisProvider<CharFilterFactory>> getCharFilters() {
      return Map.of("mapping", AnalysisPlugin.requiresAnalysisSettings((index, environment, name, settings) -> new Mapping(name, settings.getAsList("mappings"))));
    }

    @Override
    public Collection<RestHandler> getRestHandlers(RestHandlersServices services, Supplier<DiscoveryNodes> nodes, Predicate<NodeFeature> features) {
      return List.of(new Root());
    }
  }

  static final class Mapping implements CharFilterFactory {
    private final String name;
    private final NormalizeCharMap map;

    Mapping(String name, List<String> rules) {
      NormalizeCharMap.Builder builder = new NormalizeCharMap.Builder();
      for (String rule : rules) {
        String[] sides = rule.split("=>", 2);
        builder.add(sides[0], sides[1]);
      }
      this.name = name;
      map = builder.build();
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public Reader create(Reader reader) {
      return new MappingCharFilter(map, reader);
    }
  }

  static final class Root implements RestHandler {
    @Override
    public List<Route> routes() {
      return List.of(new Route(RestRequest.Method.GET, "/"));
    }

    @Override
    public void handleRequest(RestRequest request, RestChannel channel, NodeClient client) {
      channel.sendResponse(new RestResponse(RestStatus.OK, "application/json", "{\"version\":{\"number\":\"" + Build.current().version() + "\"}}"));
    }
  }
}
