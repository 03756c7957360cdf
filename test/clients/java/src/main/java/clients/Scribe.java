package clients;

import static clients.Support.api;
import static clients.Support.check;
import static clients.Support.env;
import static clients.Support.parameters;
import static clients.Support.same;
import static clients.Support.visit;

import com.github.scribejava.core.builder.ServiceBuilder;
import com.github.scribejava.core.builder.ServiceBuilderOAuth20;
import com.github.scribejava.core.builder.api.DefaultApi20;
import com.github.scribejava.core.model.OAuth2AccessToken;
import com.github.scribejava.core.oauth.AccessTokenRequestParams;
import com.github.scribejava.core.oauth.OAuth20Service;
import com.github.scribejava.core.oauth2.clientauthentication.ClientAuthentication;
import com.github.scribejava.core.oauth2.clientauthentication.HttpBasicAuthenticationScheme;
import com.github.scribejava.core.oauth2.clientauthentication.RequestBodyAuthenticationScheme;

/** ScribeJava, with an API class as its documentation describes. */
final class Scribe {
  private static final String LIBRARY = "ScribeJava 8.3.3";

  private Scribe() {}

  private static final class Api extends DefaultApi20 {
    private final ClientAuthentication authentication;

    Api(ClientAuthentication authentication) {
      this.authentication = authentication;
    }

    @Override
    public String getAccessTokenEndpoint() {
      return env("ISSUER") + "/oauth/token";
    }

    @Override
    protected String getAuthorizationBaseUrl() {
      return env("ISSUER") + "/oauth/authorize";
    }

    @Override
    public String getRevokeTokenEndpoint() {
      return env("ISSUER") + "/oauth/revoke";
    }

    @Override
    public String getDeviceAuthorizationEndpoint() {
      return env("ISSUER") + "/oauth/device_authorization";
    }

    @Override
    public ClientAuthentication getClientAuthentication() {
      return authentication;
    }
  }

  private static OAuth20Service service(String client) {
    ServiceBuilderOAuth20 builder = new ServiceBuilder(env(client + "_ID")).callback(env("REDIRECT_URI"));
    ClientAuthentication authentication = client.equals("WEB")
        ? HttpBasicAuthenticationScheme.instance()
        : RequestBodyAuthenticationScheme.instance();
    if (!client.equals("PUBLIC")) builder = builder.apiSecret(env(client + "_SECRET"));
    return builder.defaultScope("notes:read offline_access").build(new Api(authentication));
  }

  private static OAuth2AccessToken login(OAuth20Service service) throws Exception {
    var url = service.createAuthorizationUrlBuilder().state("state").initPKCE();
    var code = parameters(visit(url.build())).get("code");
    return service.getAccessToken(AccessTokenRequestParams.create(code).pkceCodeVerifier(url.getPkce().getCodeVerifier()));
  }

  static void run() {
    for (var client : new String[] {"WEB", "POST", "PUBLIC"})
      check(LIBRARY, "code with PKCE, " + client, () -> same(api(login(service(client)).getAccessToken()), 200));
    check(LIBRARY, "refresh", () -> {
      var service = service("WEB");
      var again = service.refreshAccessToken(login(service).getRefreshToken());
      same(api(again.getAccessToken()), 200);
    });
    check(LIBRARY, "client credentials", () -> {
      var token = service("WEB").getAccessTokenClientCredentialsGrant("notes:read");
      same(api(token.getAccessToken()), 200);
    });
    check(LIBRARY, "revocation", () -> {
      var service = service("WEB");
      var token = login(service).getAccessToken();
      service.revokeToken(token);
      same(api(token), 401);
    });
    check(LIBRARY, "device, public client", () -> {
      var service = service("PUBLIC");
      var codes = service.getDeviceAuthorizationCodes();
      visit(codes.getVerificationUriComplete());
      same(api(service.pollAccessTokenDeviceAuthorizationGrant(codes).getAccessToken()), 200);
    });
  }
}
