package clients;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.pac4j.core.context.WebContext;
import org.pac4j.core.context.session.SessionStore;

/** A session in memory. */
final class PlainSession implements SessionStore {
  private final Map<String, Object> values = new HashMap<>();

  @Override
  public Optional<String> getSessionId(WebContext context, boolean create) {
    return Optional.of("session");
  }

  @Override
  public Optional<Object> get(WebContext context, String key) {
    return Optional.ofNullable(values.get(key));
  }

  @Override
  public void set(WebContext context, String key, Object value) {
    if (value == null) values.remove(key);
    else values.put(key, value);
  }

  @Override
  public boolean destroySession(WebContext context) {
    values.clear();
    return true;
  }

  @Override
  public Optional<Object> getTrackableSession(WebContext context) {
    return Optional.of(this);
  }

  @Override
  public Optional<SessionStore> buildFromTrackableSession(WebContext context, Object session) {
    return Optional.of(this);
  }

  @Override
  public boolean renewSession(WebContext context) {
    return true;
  }
}
