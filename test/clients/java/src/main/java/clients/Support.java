package clients;

import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

import com.google.gson.Gson;

/** Runs checks and prints each result as a line of JSON. */
final class Support {
  private static final HttpClient http = HttpClient.newHttpClient();

  interface Check {
    void run() throws Exception;
  }

  private Support() {}

  static void check(String library, String name, Check check) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("library", library);
    result.put("check", name);
    result.put("ok", true);
    try {
      check.run();
    } catch (Throwable error) {
      result.put("ok", false);
      result.put("detail", String.valueOf(error));
    }
    System.out.println(new Gson().toJson(result));
  }

  static String env(String name) {
    return System.getenv(name);
  }

  /** Lets the user of the browser agree at the URL. Returns the URL at which the browser arrives. */
  static URI visit(String url) throws Exception {
    var address = env("BROWSER") + "?url=" + URLEncoder.encode(url, StandardCharsets.UTF_8);
    var response = http.send(HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new IllegalStateException(response.body());
    var arrived = URI.create(response.body());
    if (parameters(arrived).containsKey("error")) throw new IllegalStateException(arrived.toString());
    return arrived;
  }

  /** Returns the parameters in the query of a URL. */
  static Map<String, String> parameters(URI url) {
    Map<String, String> found = new HashMap<>();
    if (url.getRawQuery() == null) return found;
    for (var pair : url.getRawQuery().split("&")) {
      var parts = pair.split("=", 2);
      found.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    return found;
  }

  static void same(Object actual, Object expected) {
    if (!expected.equals(actual)) throw new AssertionError(actual + " is not " + expected);
  }

  /** Calls the REST API with a token. Returns the status. */
  static int api(String token) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(env("ISSUER") + "/api/notes")).header("Authorization", "Bearer " + token);
    return http.send(request.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
  }
}
