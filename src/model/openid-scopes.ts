import { emailScope, Scope } from './scope.ts'

/** The scope with which a client learns who the user is. OpenID Connect Core §3.1.2.1. */
export const openidScope = new Scope('openid', {
  helpText: 'Know who you are',
  access: 'read',
  group: 'User',
})

/** The scope of refresh tokens that remain valid after the user logs out. OpenID Connect Core §11. */
export const offlineAccessScope = new Scope('offline_access', {
  helpText: 'Keep access after you log out',
  group: 'User',
})

/** The scopes that OpenID Connect defines. Core §5.4, §11. */
export const openidScopes: readonly Scope[] = [
  openidScope,
  new Scope('profile', {
    helpText: 'Read your profile, such as your name and picture',
    access: 'read',
    group: 'User',
  }),
  new Scope('email', {
    // The scope `user:email` permits the same data outside of a login, so the texts must differ.
    helpText: 'Read your e-mail address when you log in',
    access: 'read',
    group: emailScope.group,
  }),
  new Scope('address', {
    helpText: 'Read your postal address',
    access: 'read',
    group: 'User',
  }),
  new Scope('phone', {
    helpText: 'Read your phone number',
    access: 'read',
    group: 'User',
  }),
  offlineAccessScope,
]

/** The scopes of this package. The messages of the pages contain their texts in all languages. */
export const builtInScopes: readonly Scope[] = [emailScope, ...openidScopes]

/**
 * Removes the scopes of OpenID Connect that are not in `kept`. These scopes have no effect in a personal token, because
 * no client uses a personal token to log in a user.
 */
export const withoutOpenidScopes = (
  scopes: readonly Scope[],
  kept: readonly string[] = [],
): readonly Scope[] =>
  scopes.filter((scope) => !openidScopes.includes(scope) || kept.includes(scope.id))
