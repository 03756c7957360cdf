package clients;

import static clients.Support.api;
import static clients.Support.check;
import static clients.Support.env;
import static clients.Support.parameters;
import static clients.Support.same;
import static clients.Support.visit;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.oauth2.sdk.dpop.DPoPProofFactory;
import com.nimbusds.oauth2.sdk.dpop.DefaultDPoPProofFactory;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.token.AccessToken;
import org.springframework.security.oauth2.client.endpoint.NimbusJwtClientAuthenticationParametersConverter;
import org.springframework.security.oauth2.client.endpoint.OAuth2AuthorizationCodeGrantRequest;
import org.springframework.security.oauth2.client.endpoint.OAuth2ClientCredentialsGrantRequest;
import org.springframework.security.oauth2.client.endpoint.OAuth2RefreshTokenGrantRequest;
import org.springframework.security.oauth2.client.endpoint.RestClientAuthorizationCodeTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.RestClientClientCredentialsTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.RestClientRefreshTokenTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.RestClientTokenExchangeTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.TokenExchangeGrantRequest;
import org.springframework.security.oauth2.client.authentication.OAuth2LoginAuthenticationToken;
import org.springframework.security.oauth2.client.oidc.authentication.OidcAuthorizationCodeAuthenticationProvider;
import org.springframework.security.oauth2.client.oidc.userinfo.OidcUserService;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.ClientRegistrations;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestCustomizers;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationExchange;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationRequest;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationResponse;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.introspection.SpringOpaqueTokenIntrospector;

/** Spring Security: the classes behind `oauth2Login`, `oauth2Client` and `oauth2ResourceServer`. */
final class SpringSecurity {
  private static final String LIBRARY = "Spring Security 7.1.2";

  private SpringSecurity() {}

  private static ClientRegistration registration(boolean oidc, String prefix, String client) {
    var issuer = env(prefix + "ISSUER");
    var builder = oidc ? ClientRegistrations.fromOidcIssuerLocation(issuer) : ClientRegistrations.fromIssuerLocation(issuer);
    builder.registrationId("notes").clientId(env(prefix + client + "_ID")).redirectUri(env("REDIRECT_URI"))
        .scope("openid", "profile", "email", "notes:read", "offline_access");
    switch (client) {
      case "KEY" -> builder.clientAuthenticationMethod(ClientAuthenticationMethod.PRIVATE_KEY_JWT);
      case "PUBLIC" -> builder.clientAuthenticationMethod(ClientAuthenticationMethod.NONE);
      case "POST" -> builder.clientAuthenticationMethod(ClientAuthenticationMethod.CLIENT_SECRET_POST)
          .clientSecret(env(prefix + client + "_SECRET"));
      default -> builder.clientSecret(env(prefix + client + "_SECRET"));
    }
    return builder.build();
  }

  private static OAuth2LoginAuthenticationToken login(ClientRegistration registration) throws Exception {
    var builder = OAuth2AuthorizationRequest.authorizationCode()
        .authorizationUri(registration.getProviderDetails().getAuthorizationUri())
        .clientId(registration.getClientId())
        .redirectUri(registration.getRedirectUri())
        .scopes(registration.getScopes())
        .state("state");
    OAuth2AuthorizationRequestCustomizers.withPkce().accept(builder);
    var request = builder.build();
    var arrived = parameters(visit(request.getAuthorizationRequestUri()));
    var response = OAuth2AuthorizationResponse.success(arrived.get("code")).state(arrived.get("state"))
        .redirectUri(registration.getRedirectUri()).build();
    var tokens = new RestClientAuthorizationCodeTokenResponseClient();
    if (registration.getClientAuthenticationMethod().equals(ClientAuthenticationMethod.PRIVATE_KEY_JWT))
      tokens.addParametersConverter(new NimbusJwtClientAuthenticationParametersConverter<OAuth2AuthorizationCodeGrantRequest>(
          SpringSecurity::key));
    var provider = new OidcAuthorizationCodeAuthenticationProvider(tokens, new OidcUserService());
    return (OAuth2LoginAuthenticationToken) provider.authenticate(
        new OAuth2LoginAuthenticationToken(registration, new OAuth2AuthorizationExchange(request, response)));
  }

  private static JWK key(ClientRegistration registration) {
    try {
      return JWK.parse(env("KEY_JWK"));
    } catch (java.text.ParseException error) {
      throw new IllegalStateException(error);
    }
  }

  private static void logsIn(ClientRegistration registration) throws Exception {
    var user = (OidcUser) login(registration).getPrincipal();
    same(user.getEmail(), env("USER_EMAIL"));
  }

  private static DPoPProofFactory proofs() throws Exception {
    return new DefaultDPoPProofFactory(new ECKeyGenerator(Curve.P_256).generate(), JWSAlgorithm.ES256);
  }

  /** Calls a resource server with a token. Returns the status. */
  private static int call(SpringResourceServer server, String scheme, AccessToken token, DPoPProofFactory proofs) throws Exception {
    var request = new HTTPRequest(HTTPRequest.Method.GET, server.url());
    request.setAuthorization(scheme + " " + token.getValue());
    if (proofs != null) request.setDPoP(proofs.createDPoPJWT("GET", server.url(), token));
    return request.send().getStatusCode();
  }

  /** Spring Security checks the key of a token only at resource servers, so Nimbus requests the token. */
  private static void dpop(String prefix, Class<?> configuration) throws Exception {
    var proofs = proofs();
    var token = Nimbus.boundLogin(prefix, proofs).getAccessToken();
    try (var server = new SpringResourceServer(configuration)) {
      same(call(server, "DPoP", token, proofs), 204);
      same(call(server, "DPoP", token, proofs()), 401);
      same(call(server, "DPoP", token, null), 401);
      same(call(server, "Bearer", token, null), 401);
    }
  }

  static void run() {
    check(LIBRARY, "fromIssuerLocation: code with PKCE, ID token, userinfo", () -> logsIn(registration(false, "", "WEB")));
    check(LIBRARY, "fromOidcIssuerLocation: code with PKCE, ID token, userinfo", () -> logsIn(registration(true, "", "WEB")));
    for (var client : new String[] {"POST", "PUBLIC", "KEY"})
      check(LIBRARY, "code with PKCE, " + client, () -> logsIn(registration(true, "", client)));
    check(LIBRARY, "refresh", () -> {
      var registration = registration(true, "", "WEB");
      var login = login(registration);
      var again = new RestClientRefreshTokenTokenResponseClient().getTokenResponse(
          new OAuth2RefreshTokenGrantRequest(registration, login.getAccessToken(), login.getRefreshToken()));
      same(api(again.getAccessToken().getTokenValue()), 200);
    });
    check(LIBRARY, "client credentials", () -> {
      var registration = ClientRegistration.withClientRegistration(registration(true, "", "WEB"))
          .authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS).scope("notes:read").build();
      var token = new RestClientClientCredentialsTokenResponseClient().getTokenResponse(
          new OAuth2ClientCredentialsGrantRequest(registration));
      same(api(token.getAccessToken().getTokenValue()), 200);
    });
    check(LIBRARY, "client credentials, private_key_jwt", () -> {
      var registration = ClientRegistration.withClientRegistration(registration(true, "", "KEY"))
          .authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS).scope("notes:read").build();
      var tokens = new RestClientClientCredentialsTokenResponseClient();
      tokens.addParametersConverter(new NimbusJwtClientAuthenticationParametersConverter<OAuth2ClientCredentialsGrantRequest>(
          SpringSecurity::key));
      var token = tokens.getTokenResponse(new OAuth2ClientCredentialsGrantRequest(registration));
      same(api(token.getAccessToken().getTokenValue()), 200);
    });
    check(LIBRARY, "token exchange", () -> {
      var subject = login(registration(true, "", "WEB")).getAccessToken();
      var registration = ClientRegistration.withClientRegistration(registration(true, "", "WEB"))
          .authorizationGrantType(AuthorizationGrantType.TOKEN_EXCHANGE).scope("notes:read").build();
      var token = new RestClientTokenExchangeTokenResponseClient().getTokenResponse(
          new TokenExchangeGrantRequest(registration, subject, null));
      same(api(token.getAccessToken().getTokenValue()), 200);
    });
    check(LIBRARY, "opaque token: introspection by a resource server", () -> {
      var token = login(registration(true, "", "WEB")).getAccessToken().getTokenValue();
      var introspector = SpringOpaqueTokenIntrospector.withIntrospectionUri(env("ISSUER") + "/oauth/introspect")
          .clientId(env("API_ID")).clientSecret(env("API_SECRET")).build();
      same(introspector.introspect(token).<Boolean>getAttribute("active"), true);
    });
    check(LIBRARY, "JWT access token with the discovered keys and the validator of at+jwt", () -> {
      var token = login(registration(true, "JWT_", "WEB")).getAccessToken().getTokenValue();
      var decoder = NimbusJwtDecoder.withIssuerLocation(env("JWT_ISSUER")).validateType(false).build();
      decoder.setJwtValidator(JwtValidators.createAtJwtValidator().issuer(env("JWT_ISSUER"))
          .audience(env("JWT_ISSUER")).clientId(env("JWT_WEB_ID")).build());
      same(decoder.decode(token).getIssuer().toString(), env("JWT_ISSUER"));
    });
    check(LIBRARY, "DPoP at a resource server, JWT access token", () -> dpop("JWT_", SpringResourceServer.Signed.class));
    check(LIBRARY, "DPoP at a resource server, opaque token", () -> dpop("", SpringResourceServer.Opaque.class));
  }
}
