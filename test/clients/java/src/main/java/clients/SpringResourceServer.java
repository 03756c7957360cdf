package clients;

import static clients.Support.env;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.net.URI;
import java.nio.file.Files;
import java.util.Set;
import org.apache.catalina.startup.Tomcat;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.introspection.OpaqueTokenIntrospector;
import org.springframework.security.oauth2.server.resource.introspection.SpringOpaqueTokenIntrospector;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.context.ContextLoaderListener;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.filter.DelegatingFilterProxy;

/** An API in an embedded Tomcat, which Spring Security protects. */
final class SpringResourceServer implements AutoCloseable {
  private final Tomcat tomcat = new Tomcat();
  private final URI url;

  /** Verifies access tokens in the format `jwt`. */
  @Configuration
  @EnableWebSecurity
  static class Signed {
    @Bean
    SecurityFilterChain filters(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
          .oauth2ResourceServer(server -> server.jwt(Customizer.withDefaults()).dPoP(Customizer.withDefaults())).build();
    }

    @Bean
    JwtDecoder decoder() {
      var decoder = NimbusJwtDecoder.withIssuerLocation(env("JWT_ISSUER")).validateType(false).build();
      decoder.setJwtValidator(JwtValidators.createAtJwtValidator().issuer(env("JWT_ISSUER"))
          .audience(env("JWT_ISSUER")).clientId(env("JWT_PUBLIC_ID")).build());
      return decoder;
    }
  }

  /** Introspects opaque access tokens. */
  @Configuration
  @EnableWebSecurity
  static class Opaque {
    @Bean
    SecurityFilterChain filters(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
          .oauth2ResourceServer(server -> server.opaqueToken(Customizer.withDefaults()).dPoP(Customizer.withDefaults())).build();
    }

    @Bean
    OpaqueTokenIntrospector introspector() {
      return SpringOpaqueTokenIntrospector.withIntrospectionUri(env("ISSUER") + "/oauth/introspect")
          .clientId(env("API_ID")).clientSecret(env("API_SECRET")).build();
    }
  }

  SpringResourceServer(Class<?> configuration) throws Exception {
    var spring = new AnnotationConfigWebApplicationContext();
    spring.register(configuration);
    tomcat.setBaseDir(Files.createTempDirectory("clients").toString());
    tomcat.setPort(0);
    var context = tomcat.addContext("", null);
    Tomcat.addServlet(context, "notes", new HttpServlet() {
      @Override
      protected void doGet(HttpServletRequest request, HttpServletResponse response) {
        response.setStatus(204);
      }
    });
    context.addServletMappingDecoded("/", "notes");
    context.addServletContainerInitializer((classes, servlets) -> {
      servlets.addListener(new ContextLoaderListener(spring));
      servlets.addFilter("springSecurityFilterChain", new DelegatingFilterProxy())
          .addMappingForUrlPatterns(null, false, "/*");
    }, Set.of());
    tomcat.start();
    url = URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/notes");
  }

  /** Returns the URL of the API. */
  URI url() {
    return url;
  }

  @Override
  public void close() throws Exception {
    tomcat.stop();
    tomcat.destroy();
  }
}
