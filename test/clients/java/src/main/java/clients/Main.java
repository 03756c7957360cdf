package clients;

/** Runs Java client libraries against the server that the environment describes. */
final class Main {
  private Main() {}

  public static void main(String[] args) {
    Nimbus.run();
    SpringSecurity.run();
    Scribe.run();
    Pac4j.run();
  }
}
