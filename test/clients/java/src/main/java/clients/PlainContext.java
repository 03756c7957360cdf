package clients;

import java.net.URI;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.pac4j.core.context.Cookie;
import org.pac4j.core.context.WebContext;

/** A GET request of a browser to the application that uses pac4j. */
final class PlainContext implements WebContext {
  private final URI url;
  private final Map<String, String> parameters;
  private final Map<String, Object> attributes = new HashMap<>();
  private final Map<String, String> headers = new HashMap<>();

  PlainContext(URI url, Map<String, String> parameters) {
    this.url = url;
    this.parameters = parameters;
  }

  @Override
  public Optional<String> getRequestParameter(String name) {
    return Optional.ofNullable(parameters.get(name));
  }

  @Override
  public Map<String, String[]> getRequestParameters() {
    Map<String, String[]> all = new HashMap<>();
    parameters.forEach((name, value) -> all.put(name, new String[] {value}));
    return all;
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public Optional getRequestAttribute(String name) {
    return Optional.ofNullable(attributes.get(name));
  }

  @Override
  public void setRequestAttribute(String name, Object value) {
    attributes.put(name, value);
  }

  @Override
  public Optional<String> getRequestHeader(String name) {
    return Optional.empty();
  }

  @Override
  public String getRequestMethod() {
    return "GET";
  }

  @Override
  public String getRemoteAddr() {
    return "127.0.0.1";
  }

  @Override
  public void setResponseHeader(String name, String value) {
    headers.put(name, value);
  }

  @Override
  public Optional<String> getResponseHeader(String name) {
    return Optional.ofNullable(headers.get(name));
  }

  @Override
  public void setResponseContentType(String content) {}

  @Override
  public String getServerName() {
    return url.getHost();
  }

  @Override
  public int getServerPort() {
    return url.getPort();
  }

  @Override
  public String getScheme() {
    return url.getScheme();
  }

  @Override
  public boolean isSecure() {
    return false;
  }

  @Override
  public String getFullRequestURL() {
    return url.toString();
  }

  @Override
  public Collection<Cookie> getRequestCookies() {
    return List.of();
  }

  @Override
  public void addResponseCookie(Cookie cookie) {}

  @Override
  public String getPath() {
    return url.getPath();
  }
}
