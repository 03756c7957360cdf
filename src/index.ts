export {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
} from './authorization-server.ts'
export type {
  ClientAuthenticationMethod,
  Endpoint,
  Extension,
  Grant,
  ProviderOperations,
  ServerContext,
  TokenRequest,
} from './extension.ts'
export type { Connection, HttpRequest } from './http-request.ts'
export {
  JWTDecodeError,
  JWTExpiredToken,
  JWTExtendedException,
  JWTInvalidHeaderError,
  JWTInvalidIssuer,
  JWTNoAuthorizationError,
} from './jwt-error.ts'
export { type LogEntry, type Logger, type LogLevel, type LogSink, logTo } from './log.ts'
export type {
  AuditActor,
  AuditDetails,
  AuditEvent,
  AuditEventName,
  AuditRecord,
} from './model/audit-event.ts'
export type { Client } from './model/client.ts'
export type { ClientMetadata } from './model/client-metadata.ts'
export { InvalidField } from './model/invalid-field.ts'
export type { LeakedCredential, LeakReport, OnLeaked } from './model/leak-report.ts'
export type { RegisterClient, RegistrationRequest } from './model/register-client.ts'
export type { SaveToken, TokenData } from './model/save-token.ts'
export { emailScope, Scope, ScopeDoesNotExists, ScopeRegistry } from './model/scope.ts'
export type { FoundToken, IssuedToken, Token } from './model/token.ts'
export { type User, type UserId, UserProxy } from './model/user.ts'
export {
  table,
  type UserCallbacks,
  type UserTable,
  type UserTableColumns,
} from './model/user-table.ts'
export { AuthenticationRequired, OAuthError, type OAuthErrorCode } from './oauth-error.ts'
export {
  describeSettings,
  InvalidSettings,
  type Settings,
  type SettingsInput,
  settingsFrom,
} from './options.ts'
export type { OutboundOptions } from './outbound/outbound.ts'
export type { Brand, Frame, FrameLinks, Page, Reader } from './pages/frame.ts'
export { type Html, html, raw } from './pages/html.ts'
export type { Messages } from './pages/messages/en.ts'
export type { Language } from './pages/messages/languages.ts'
export type { Pages, ViewOf } from './pages/pages.ts'
export type { Actor, ClientAct } from './records/administration.ts'
export type { AuditHook } from './records/audit-hooks.ts'
export type {
  AuditDefect,
  AuditVerification,
  AuditVerificationOptions,
} from './records/audit-verification.ts'
export type { AuthorizedApplication, Device } from './records/authorized-applications.ts'
export type { ClientInput, ClientWithSecret, ListedClient } from './records/clients.ts'
export type {
  ManagedToken,
  PersonalToken,
  PersonalTokenOptions,
} from './records/personal-tokens.ts'
export type {
  KeyRotation,
  KeyRotationOptions,
  KeyRotationProgress,
  UnreadableRows,
} from './records/rotate-keys.ts'
export type { ActingAs } from './request-scope.ts'
export type { Auth, SignedIn } from './resource-server.ts'
export { ClockInDoubt } from './server-clock.ts'
export type { JwtContext, VerifyJwt } from './session/jwt.ts'
export type { PageLinks, PageSession } from './session/page-session.ts'
export type { FindResourceOwner, ResourceOwner } from './session/sessions.ts'
export {
  type AroundStore,
  type StoreOpener,
  StoreUnavailable,
  StoreUnusable,
  type TransientsOpener,
} from './store/store.ts'
export type { SweepPlan } from './sweep-plan.ts'
