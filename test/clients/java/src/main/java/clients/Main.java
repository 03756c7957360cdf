package clients;

import java.util.logging.LogManager;

/** Runs Java client libraries against the server that the environment describes. */
final class Main {
  private Main() {}

  public static void main(String[] args) {
    // Tomcat logs each start and stop.
    LogManager.getLogManager().reset();
    Nimbus.run();
    SpringSecurity.run();
    Scribe.run();
    Pac4j.run();
  }
}
