package clients;

import static clients.Support.api;
import static clients.Support.check;
import static clients.Support.env;
import static clients.Support.same;
import static clients.Support.visit;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.AuthorizationRequest;
import com.nimbusds.oauth2.sdk.AuthorizationResponse;
import com.nimbusds.oauth2.sdk.ClientCredentialsGrant;
import com.nimbusds.oauth2.sdk.PushedAuthorizationRequest;
import com.nimbusds.oauth2.sdk.PushedAuthorizationResponse;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenIntrospectionRequest;
import com.nimbusds.oauth2.sdk.TokenIntrospectionResponse;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenRevocationRequest;
import com.nimbusds.oauth2.sdk.as.AuthorizationServerMetadata;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.ClientSecretPost;
import com.nimbusds.oauth2.sdk.auth.PrivateKeyJWT;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.device.DeviceAuthorizationRequest;
import com.nimbusds.oauth2.sdk.device.DeviceAuthorizationResponse;
import com.nimbusds.oauth2.sdk.device.DeviceCodeGrant;
import com.nimbusds.oauth2.sdk.dpop.DPoPProofFactory;
import com.nimbusds.oauth2.sdk.dpop.DefaultDPoPProofFactory;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.oauth2.sdk.token.AccessTokenType;
import com.nimbusds.oauth2.sdk.token.DPoPAccessToken;
import com.nimbusds.oauth2.sdk.token.TokenTypeURI;
import com.nimbusds.oauth2.sdk.token.Tokens;
import com.nimbusds.oauth2.sdk.tokenexchange.TokenExchangeGrant;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.LogoutRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.UserInfoRequest;
import com.nimbusds.openid.connect.sdk.UserInfoResponse;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientInformationResponse;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientMetadata;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientRegistrationRequest;
import com.nimbusds.openid.connect.sdk.rp.OIDCClientRegistrationResponseParser;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.net.URI;

/** The OAuth 2.0 and OpenID Connect SDK of Nimbus. */
final class Nimbus {
  private static final String LIBRARY = "Nimbus oauth2-oidc-sdk 11.30";
  private static final Scope SCOPE = new Scope("openid", "email", "notes:read", "offline_access");

  private Nimbus() {}

  private static OIDCProviderMetadata metadata(String prefix) throws Exception {
    return OIDCProviderMetadata.resolve(new Issuer(env(prefix + "ISSUER")));
  }

  private static ClientID id(String client) {
    return new ClientID(env(client + "_ID"));
  }

  /** Returns the authentication of a client; null for a public one. */
  private static ClientAuthentication authentication(String client, URI audience) throws Exception {
    if (client.equals("PUBLIC")) return null;
    if (client.equals("KEY")) {
      var key = RSAKey.parse(env("KEY_JWK"));
      return new PrivateKeyJWT(id(client), audience, JWSAlgorithm.RS256, key.toRSAPrivateKey(), key.getKeyID(), null);
    }
    var secret = new Secret(env(client + "_SECRET"));
    return client.equals("POST") ? new ClientSecretPost(id(client), secret) : new ClientSecretBasic(id(client), secret);
  }

  private static TokenRequest request(String client, URI endpoint, AuthorizationGrant grant, Scope scope) throws Exception {
    var authentication = authentication(client, endpoint);
    if (authentication == null) return new TokenRequest(endpoint, id(client), grant, scope);
    return new TokenRequest(endpoint, authentication, grant, scope);
  }

  private static OIDCTokenResponse send(HTTPRequest request) throws Exception {
    var response = OIDCTokenResponseParser.parse(request.send());
    if (!response.indicatesSuccess()) throw new IllegalStateException(response.toErrorResponse().toJSONObject().toJSONString());
    return (OIDCTokenResponse) response.toSuccessResponse();
  }

  private static AuthorizationCodeGrant code(URI url, CodeVerifier verifier) throws Exception {
    var response = AuthorizationResponse.parse(visit(url.toString())).toSuccessResponse();
    return new AuthorizationCodeGrant(response.getAuthorizationCode(), URI.create(env("REDIRECT_URI")), verifier);
  }

  private static AuthenticationRequest.Builder request(ClientID client, CodeVerifier verifier, URI endpoint) {
    return new AuthenticationRequest.Builder(new ResponseType("code"), SCOPE, client, URI.create(env("REDIRECT_URI")))
        .endpointURI(endpoint).state(new State()).nonce(new Nonce("nonce-1")).codeChallenge(verifier, CodeChallengeMethod.S256);
  }

  private static OIDCTokenResponse login(String prefix, String client) throws Exception {
    var server = metadata(prefix);
    var verifier = new CodeVerifier();
    var url = request(id(prefix + client), verifier, server.getAuthorizationEndpointURI()).build().toURI();
    var grant = code(url, verifier);
    return send(request(prefix + client, server.getTokenEndpointURI(), grant, null).toHTTPRequest());
  }

  /** Returns tokens of a public client that are bound to the key of the proofs. */
  static Tokens boundLogin(String prefix, DPoPProofFactory proofs) throws Exception {
    var server = metadata(prefix);
    var verifier = new CodeVerifier();
    var client = id(prefix + "PUBLIC");
    var grant = code(request(client, verifier, server.getAuthorizationEndpointURI()).build().toURI(), verifier);
    var request = new TokenRequest(server.getTokenEndpointURI(), client, grant, null).toHTTPRequest();
    request.setDPoP(proofs.createDPoPJWT("POST", server.getTokenEndpointURI()));
    return send(request).getTokens();
  }

  static void run() {
    check(LIBRARY, "OAuth metadata", () ->
        same(AuthorizationServerMetadata.resolve(new Issuer(env("ISSUER"))).getIssuer().getValue(), env("ISSUER")));
    for (var client : new String[] {"WEB", "POST", "PUBLIC", "KEY"})
      check(LIBRARY, "code with PKCE, " + client, () ->
          same(api(login("", client).getOIDCTokens().getAccessToken().getValue()), 200));
    check(LIBRARY, "ID token with nonce", () -> {
      var server = metadata("");
      var validator = new IDTokenValidator(server.getIssuer(), id("WEB"), JWSAlgorithm.RS256, server.getJWKSetURI().toURL());
      validator.validate(login("", "WEB").getOIDCTokens().getIDToken(), new Nonce("nonce-1"));
    });
    check(LIBRARY, "userinfo", () -> {
      var token = login("", "WEB").getOIDCTokens().getBearerAccessToken();
      var response = UserInfoResponse.parse(new UserInfoRequest(metadata("").getUserInfoEndpointURI(), token).toHTTPRequest().send());
      same(response.toSuccessResponse().getUserInfo().getEmailAddress(), env("USER_EMAIL"));
    });
    check(LIBRARY, "refresh", () -> {
      var grant = new RefreshTokenGrant(login("", "WEB").getOIDCTokens().getRefreshToken());
      send(request("WEB", metadata("").getTokenEndpointURI(), grant, null).toHTTPRequest());
    });
    check(LIBRARY, "client credentials", () -> {
      var token = send(request("WEB", metadata("").getTokenEndpointURI(), new ClientCredentialsGrant(), new Scope("notes:read")).toHTTPRequest());
      same(api(token.getTokens().getAccessToken().getValue()), 200);
    });
    for (var client : new String[] {"WEB", "KEY"})
      check(LIBRARY, "pushed request, " + client, () -> {
        var server = metadata("");
        var verifier = new CodeVerifier();
        var endpoint = server.getPushedAuthorizationRequestEndpointURI();
        var pushed = new PushedAuthorizationRequest(endpoint, authentication(client, endpoint), request(id(client), verifier, null).build());
        var response = PushedAuthorizationResponse.parse(pushed.toHTTPRequest().send()).toSuccessResponse();
        var url = new AuthorizationRequest.Builder(response.getRequestURI(), id(client)).endpointURI(server.getAuthorizationEndpointURI()).build();
        send(request(client, server.getTokenEndpointURI(), code(url.toURI(), verifier), null).toHTTPRequest());
      });
    check(LIBRARY, "DPoP: code, API, refresh", () -> {
      var server = metadata("");
      var proofs = new DefaultDPoPProofFactory(new ECKeyGenerator(Curve.P_256).generate(), JWSAlgorithm.ES256);
      var tokens = boundLogin("", proofs);
      same(tokens.getAccessToken().getType(), AccessTokenType.DPOP);
      var api = URI.create(env("ISSUER") + "/api/notes");
      var call = new HTTPRequest(HTTPRequest.Method.GET, api);
      call.setAuthorization(((DPoPAccessToken) tokens.getAccessToken()).toAuthorizationHeader());
      call.setDPoP(proofs.createDPoPJWT("GET", api, tokens.getAccessToken()));
      same(call.send().getStatusCode(), 200);
      var refresh = request("PUBLIC", server.getTokenEndpointURI(), new RefreshTokenGrant(tokens.getRefreshToken()), null).toHTTPRequest();
      refresh.setDPoP(proofs.createDPoPJWT("POST", server.getTokenEndpointURI()));
      same(send(refresh).getTokens().getAccessToken().getType(), AccessTokenType.DPOP);
    });
    for (var client : new String[] {"PUBLIC", "WEB"})
      check(LIBRARY, "device, " + client, () -> {
        var server = metadata("");
        var endpoint = server.getDeviceAuthorizationEndpointURI();
        var authentication = authentication(client, endpoint);
        var scope = new Scope("notes:read");
        var request = authentication == null
            ? new DeviceAuthorizationRequest(endpoint, id(client), scope)
            : new DeviceAuthorizationRequest.Builder(authentication).endpointURI(endpoint).scope(scope).build();
        var codes = DeviceAuthorizationResponse.parse(request.toHTTPRequest().send()).toSuccessResponse();
        visit(codes.getVerificationURIComplete().toString());
        send(request(client, server.getTokenEndpointURI(), new DeviceCodeGrant(codes.getDeviceCode()), null).toHTTPRequest());
      });
    for (var client : new String[] {"API", "KEY"})
      check(LIBRARY, "introspection, " + client, () -> {
        var token = login("", client.equals("API") ? "WEB" : client).getOIDCTokens().getAccessToken();
        var endpoint = metadata("").getIntrospectionEndpointURI();
        var request = new TokenIntrospectionRequest(endpoint, authentication(client, endpoint), token);
        same(TokenIntrospectionResponse.parse(request.toHTTPRequest().send()).toSuccessResponse().isActive(), true);
      });
    check(LIBRARY, "revocation", () -> {
      var token = login("", "KEY").getOIDCTokens().getAccessToken();
      var endpoint = metadata("").getRevocationEndpointURI();
      new TokenRevocationRequest(endpoint, authentication("KEY", endpoint), token).toHTTPRequest().send();
      same(api(token.getValue()), 401);
    });
    check(LIBRARY, "token exchange", () -> {
      var subject = login("", "WEB").getOIDCTokens().getAccessToken();
      var grant = new TokenExchangeGrant(subject, TokenTypeURI.ACCESS_TOKEN);
      var response = send(request("WEB", metadata("").getTokenEndpointURI(), grant, new Scope("notes:read")).toHTTPRequest());
      same(api(response.getTokens().getAccessToken().getValue()), 200);
    });
    check(LIBRARY, "logout", () -> {
      var target = URI.create(env("REDIRECT_URI"));
      var hint = login("", "WEB").getOIDCTokens().getIDToken();
      var url = new LogoutRequest(metadata("").getEndSessionEndpointURI(), hint, target, new State("state")).toURI();
      var request = new HTTPRequest(HTTPRequest.Method.GET, url);
      request.setFollowRedirects(false);
      same(String.valueOf(request.send().getLocation()), target + "?state=state");
    });
    check(LIBRARY, "dynamic registration", () -> {
      var client = new OIDCClientMetadata();
      client.setRedirectionURI(URI.create(env("REDIRECT_URI")));
      client.setName("Printer");
      var request = new OIDCClientRegistrationRequest(metadata("").getRegistrationEndpointURI(), client, null);
      var response = OIDCClientRegistrationResponseParser.parse(request.toHTTPRequest().send());
      if (!response.indicatesSuccess()) throw new IllegalStateException(response.toErrorResponse().getErrorObject().toString());
      same(((OIDCClientInformationResponse) response).getOIDCClientInformation().getOIDCMetadata().getName(), "Printer");
    });
    check(LIBRARY, "JWT access token with the published keys and the type at+jwt", () -> {
      var keys = JWKSourceBuilder.<SecurityContext>create(metadata("JWT_").getJWKSetURI().toURL()).build();
      var processor = new DefaultJWTProcessor<SecurityContext>();
      processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt")));
      processor.setJWSKeySelector(new JWSVerificationKeySelector<>(JWSAlgorithm.RS256, keys));
      var claims = processor.process(login("JWT_", "WEB").getOIDCTokens().getAccessToken().getValue(), null);
      same(claims.getIssuer(), env("JWT_ISSUER"));
    });
  }
}
