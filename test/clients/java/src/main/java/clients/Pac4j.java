package clients;

import static clients.Support.check;
import static clients.Support.env;
import static clients.Support.parameters;
import static clients.Support.same;
import static clients.Support.visit;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.oauth2.sdk.auth.ClientAuthenticationMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import java.net.URI;
import java.util.Map;
import org.pac4j.core.context.CallContext;
import org.pac4j.core.exception.http.WithLocationAction;
import org.pac4j.core.profile.UserProfile;
import org.pac4j.oidc.client.OidcClient;
import org.pac4j.oidc.config.OidcConfiguration;
import org.pac4j.oidc.config.PrivateKeyJWTClientAuthnMethodConfig;
import org.pac4j.oidc.profile.OidcProfile;

/** pac4j with its OpenID Connect client, by the discovery document. */
final class Pac4j {
  private static final String LIBRARY = "pac4j-oidc 6.2.0";

  private Pac4j() {}

  private static OidcClient client(String name, boolean useNonce) throws java.text.ParseException, com.nimbusds.jose.JOSEException {
    var configuration = new OidcConfiguration();
    configuration.setClientId(env(name + "_ID"));
    configuration.setSecret(env(name + "_SECRET"));
    configuration.setDiscoveryURI(env("ISSUER") + "/.well-known/openid-configuration");
    configuration.setScope("openid email offline_access");
    configuration.setUseNonce(useNonce);
    configuration.setPkceMethod(CodeChallengeMethod.S256);
    var method = switch (name) {
      case "POST" -> ClientAuthenticationMethod.CLIENT_SECRET_POST;
      case "KEY" -> ClientAuthenticationMethod.PRIVATE_KEY_JWT;
      default -> ClientAuthenticationMethod.CLIENT_SECRET_BASIC;
    };
    configuration.setClientAuthenticationMethodAsString(method.getValue());
    if (name.equals("KEY")) {
      var key = RSAKey.parse(env("KEY_JWK"));
      configuration.setPrivateKeyJWTClientAuthnMethodConfig(
          new PrivateKeyJWTClientAuthnMethodConfig(JWSAlgorithm.RS256, key.toPrivateKey(), key.getKeyID()));
    }
    var client = new OidcClient(configuration);
    client.setCallbackUrl(env("REDIRECT_URI"));
    client.init();
    return client;
  }

  private static UserProfile login(OidcClient client, PlainSession session) throws Exception {
    var start = new CallContext(new PlainContext(URI.create("http://127.0.0.1/"), Map.of()), session);
    var redirect = (WithLocationAction) client.getRedirectionAction(start).orElseThrow();
    var arrived = visit(redirect.getLocation());
    var callback = new CallContext(new PlainContext(arrived, parameters(arrived)), session);
    var credentials = client.getCredentials(callback).orElseThrow();
    var validated = client.validateCredentials(callback, credentials).orElseThrow();
    return client.getUserProfile(callback, validated).orElseThrow();
  }

  static void run() {
    for (var name : new String[] {"WEB", "POST", "KEY"})
      check(LIBRARY, "discovery, code with PKCE, ID token, userinfo, " + name, () -> {
        var profile = (OidcProfile) login(client(name, true), new PlainSession());
        same(profile.getEmail(), env("USER_EMAIL"));
      });
    check(LIBRARY, "refresh", () -> {
      // On renewal, pac4j expects the nonce of the login, which an ID token from a refresh lacks (OpenID Connect Core §12.2).
      var client = client("WEB", false);
      var session = new PlainSession();
      var profile = (OidcProfile) login(client, session);
      var context = new CallContext(new PlainContext(URI.create("http://127.0.0.1/"), Map.of()), session);
      var renewed = (OidcProfile) client.renewUserProfile(context, profile).orElseThrow();
      same(renewed.getEmail(), env("USER_EMAIL"));
    });
    check(LIBRARY, "logout address", () -> {
      var client = client("WEB", true);
      var session = new PlainSession();
      var profile = login(client, session);
      var context = new CallContext(new PlainContext(URI.create("http://127.0.0.1/"), Map.of()), session);
      var action = (WithLocationAction) client.getLogoutAction(context, profile, env("REDIRECT_URI")).orElseThrow();
      same(action.getLocation().startsWith(env("ISSUER") + "/oauth/logout?"), true);
    });
  }
}
