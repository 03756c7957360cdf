// Guards of an application that declares its scopes. `tsc -p test/types/declared-scopes` checks this file. The code never
// runs.

import { Scope, type ScopeName } from 'svc-oauth2server'
import * as express from 'svc-oauth2server/express'
import * as fastify from 'svc-oauth2server/fastify'
import * as fetch from 'svc-oauth2server/fetch'
import * as hono from 'svc-oauth2server/hono'
import * as node from 'svc-oauth2server/node'

export const scopes = [new Scope('notes:read'), new Scope('notes:write')]

declare module 'svc-oauth2server/scopes' {
  interface DeclaredScopes {
    scopes: (typeof scopes)[number]['id']
  }
}

const adapters = [express, fastify, fetch, hono, node]

export const declared = adapters.flatMap(({ requireAnyOauthScope, requireOauthScopes }) => [
  requireOauthScopes('notes:read', 'notes:write', 'user:email'),
  requireAnyOauthScope('notes:read', 'notes:write'),
])

export const misspelled = adapters.flatMap(({ requireAnyOauthScope, requireOauthScopes }) => [
  // @ts-expect-error: no scope has this name
  requireOauthScopes('notes:raed'),
  // @ts-expect-error: the second name is misspelled
  requireAnyOauthScope('notes:read', 'notes:wriet'),
])

export const name: ScopeName = 'notes:read'
// @ts-expect-error: ScopeName is the union of the declared scopes
export const other: ScopeName = 'photos:read'
