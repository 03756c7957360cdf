export type { OutboundOptions } from './http/outbound/outbound.ts'
export type { Connection, HttpRequest } from './http/request.ts'
export type { ActingAs } from './http/request-scope.ts'
export type {
  AuditActor,
  AuditDetails,
  AuditEvent,
  AuditEventName,
  AuditRecord,
} from './model/audit-event.ts'
export type { Auth, SignedIn } from './model/auth.ts'
export type { Client } from './model/client.ts'
export type { ClientMetadata } from './model/client-metadata.ts'
export { InvalidField } from './model/invalid-field.ts'
export {
  JWTDecodeError,
  JWTExpiredToken,
  JWTExtendedException,
  JWTInvalidHeaderError,
  JWTInvalidIssuer,
  JWTNoAuthorizationError,
} from './model/jwt-error.ts'
export type { LeakedCredential, LeakReport, OnLeaked } from './model/leak-report.ts'
export type { LogEntry, LogLevel, LogSink } from './model/log.ts'
export { AuthenticationRequired, OAuthError, type OAuthErrorCode } from './model/oauth-error.ts'
export type { RegisterClient, RegistrationRequest } from './model/register-client.ts'
export type { SaveToken, TokenData } from './model/save-token.ts'
export {
  type DeclaredScopes,
  emailScope,
  Scope,
  ScopeDoesNotExists,
  type ScopeName,
  ScopeRegistry,
} from './model/scope.ts'
export type { ScopeAccess } from './model/scope-access.ts'
export type { FoundToken, IssuedToken, Token } from './model/token.ts'
export { type User, type UserId, UserProxy } from './model/user.ts'
export type { SendUserLink, UserLink, UserLinkPurpose } from './model/user-link.ts'
export {
  type FindByPassword,
  table,
  type UserCallbacks,
  type UserTable,
  type UserTableColumns,
} from './model/user-table.ts'
export type { JwtContext, JwtPayload, VerifyJwt } from './model/verify-jwt.ts'
export type { Brand, Frame, FrameLinks, PageTemplate, Reader } from './pages/frame.ts'
export { type Html, html, raw } from './pages/html.ts'
export type { Messages } from './pages/messages/en.ts'
export type { TextOverrides } from './pages/messages/texts.ts'
export type { Pages, ViewOf } from './pages/pages.ts'
export { authenticateClient } from './protocol/client-authentication/authenticate-client.ts'
export type { ProviderOperations } from './protocol/client-lookup.ts'
export {
  type DeclaredNames,
  type ExtensionNames,
  extensionNames,
  shortLived,
} from './protocol/extension-names.ts'
export type { TokenRequest } from './protocol/plug-ins/grant.ts'
export type { ClientAuthenticationMethod, Endpoint, Extension, Grant } from './protocol/plug-ins.ts'
export type { ServerContext } from './protocol/server-context.ts'
export type { PageLinks, PageSession } from './protocol/session/page-session.ts'
export type { FindResourceOwner, ResourceOwner } from './protocol/session/sessions.ts'
export type { Actor, ClientAct } from './records/administration.ts'
export type { AuditHook } from './records/audit/audit-hooks.ts'
export type {
  AuditDefect,
  AuditVerification,
  AuditVerificationOptions,
} from './records/audit/audit-verification.ts'
export type { AuthorizedApplication, Device } from './records/authorized-applications.ts'
export type { ClientInput, ClientWithSecret, ListedClient } from './records/clients/client-input.ts'
export type {
  KeyRotation,
  KeyRotationOptions,
  KeyRotationProgress,
  UnreadableRows,
} from './records/keys/rotate-keys.ts'
export type {
  ManagedToken,
  PersonalToken,
  PersonalTokenOptions,
} from './records/tokens/personal-tokens.ts'
export type { AuthorizationServer } from './server/authorization-server.ts'
export { ClockInDoubt } from './server/clock/server-clock.ts'
export { createAuthorizationServer } from './server/create-authorization-server.ts'
export type { AuthorizationServerOptions } from './server/options.ts'
export type { SweepPlan } from './server/sweeper/sweeper.ts'
export type { Logger } from './server/telemetry/log-to.ts'
export { logTo } from './server/telemetry/log-to.ts'
export { describeSettings } from './settings/describe-settings.ts'
export { InvalidSettings } from './settings/invalid-settings.ts'
export type { Settings } from './settings/settings.ts'
export { settingsFrom } from './settings/settings-from-environment.ts'
export type { SettingsInput } from './settings/settings-input.ts'
export { NotOurUsers, StoreUnavailable, StoreUnusable } from './store/contract/errors.ts'
export type { TransientsOpener } from './store/contract/transients.ts'
export type { AroundStore, PostgresClient, StoreOpener } from './store/store.ts'
