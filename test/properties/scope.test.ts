import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Client } from '../../src/model/client.ts'
import type { ClientFields } from '../../src/model/entities/client.ts'
import { OAuthError } from '../../src/model/oauth-error.ts'
import { isWithin, narrow, parseScope, Scope, ScopeRegistry } from '../../src/model/scope.ts'
import {
  optionalScopesOf,
  rememberedScopes,
} from '../../src/protocol/endpoints/consent/optional-scopes.ts'
import { clientRow } from '../store/rows.ts'
import { check, outcome } from './check.ts'

const ids = ['a', 'b', 'c', 'd', 'a:b', 'A']
const known = fc.constantFrom(...ids)
const anyScope = fc.oneof(
  { weight: 6, arbitrary: known },
  { weight: 1, arbitrary: fc.constant('nowhere') },
)
/** Scopes without duplicates, as records contain them. */
const listOf = (of: fc.Arbitrary<string>) => fc.uniqueArray(of, { maxLength: 6 })
const someOf = (of: fc.Arbitrary<string>) => fc.array(of, { maxLength: 6 })
const registries = fc
  .array(fc.boolean(), { minLength: ids.length, maxLength: ids.length })
  .map(
    (internal) =>
      new ScopeRegistry(ids.map((id, at) => new Scope(id, { internal: internal[at] === true }))),
  )

const clientOf = (fields: Partial<ClientFields>, scopes: ScopeRegistry): Client =>
  new Client(clientRow(fields).fields, null, {
    scopes,
    allowedGrantTypes: [],
    allowedResponseTypes: [],
    knownGrantTypes: [],
    defaultScopes: [],
    resources: [],
    countTokens: async () => 0,
  })

describe('a scope parameter (RFC 6749 §3.3)', () => {
  test('is parsed to its distinct tokens in order, and parsing is idempotent', () =>
    check(
      fc.property(
        fc.array(fc.oneof(known, fc.stringMatching(/^[\x21\x23-\x5B\x5D-\x7E]{1,10}$/))),
        fc.constantFrom(' ', '  '),
        (given, between) => {
          const parsed = parseScope(given.join(between))
          expect(parsed).toEqual([...new Set(given)])
          expect(parseScope(parsed.join(' '))).toEqual(parsed)
        },
      ),
    ))

  test('fails with invalid_scope for a character that RFC 6749 does not allow, and with no other error', () =>
    check(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const read = outcome(() => parseScope(text))
        const isFine = /^[\x20\x21\x23-\x5B\x5D-\x7E]*$/.test(text)
        if (isFine) expect(read).toEqual({ value: [...new Set(text.split(' '))].filter((x) => x) })
        else
          expect('error' in read && read.error instanceof OAuthError && read.error.code).toBe(
            'invalid_scope',
          )
      }),
    ))
})

describe('the scopes of a client', () => {
  const settings = fc.record({
    registry: registries,
    allowed: fc.option(listOf(anyScope), { nil: null }),
    defaults: listOf(anyScope),
    asked: fc.option(someOf(anyScope), { nil: undefined }),
  })

  test('are registered, allowed and not internal, and a request obtains exactly its scopes or invalid_scope', () =>
    check(
      fc.property(settings, ({ registry, allowed, defaults, asked }) => {
        const client = clientOf({ allowedScopes: allowed, defaultScopes: defaults }, registry)
        const within = client.scopeCeiling
        for (const scope of within) {
          expect(registry.get(scope)?.isInternal).toBe(false)
          if (allowed) expect(allowed).toContain(scope)
        }
        const otherwise = client.scopesWhenOmitted
        expect(isWithin(otherwise, within)).toBe(true)
        expect(isWithin(client.scopeCeilingWithoutConsent, within)).toBe(true)
        const text = asked?.join(' ')
        const made = outcome(() => narrow(text, { within, otherwise }))
        // An empty parameter counts as omitted (RFC 6749 §3.1).
        const distinct = [...new Set(asked?.length ? asked : otherwise)]
        if ('value' in made) {
          // All requested scopes in the order of the request, or an error: no scope is omitted silently (decision
          // §4.5).
          expect(made.value).toEqual(distinct)
          expect(isWithin(made.value, within)).toBe(true)
          expect(narrow(made.value.join(' '), { within, otherwise: [] })).toEqual(made.value)
        } else {
          expect(made.error).toMatchObject({ code: 'invalid_scope', status: 400 })
          expect(distinct.some((scope) => !within.includes(scope))).toBe(true)
        }
      }),
      { runs: 1_000 },
    ))

  test('never grow when fewer scopes are allowed', () =>
    check(
      fc.property(registries, someOf(known), someOf(known), (registry, allowed, kept) => {
        const fewer = allowed.filter((scope) => kept.includes(scope))
        const [more, less] = [allowed, fewer].map(
          (allowedScopes) => clientOf({ allowedScopes }, registry).scopeCeiling,
        )
        expect(isWithin(less ?? [], more ?? [])).toBe(true)
      }),
    ))
})

describe('an earlier decision', () => {
  test('grants only the accepted scopes; a scope that was neither accepted nor declined as optional requires a new decision', () =>
    check(
      fc.property(
        someOf(known),
        someOf(known),
        someOf(known),
        someOf(known),
        (asked, optionalScopes, scopes, declined) => {
          const requested = [...new Set(asked)]
          const declinedScopes = declined.filter((scope) => !scopes.includes(scope))
          const optional = optionalScopesOf(requested, { optionalScopes })
          expect(optional).toEqual(requested.filter((scope) => optionalScopes.includes(scope)))
          const granted = rememberedScopes(
            requested,
            { optionalScopes },
            { scopes, declinedScopes },
          )
          const isSettled = requested.every(
            (scope) =>
              scopes.includes(scope) ||
              (optional.includes(scope) && declinedScopes.includes(scope)),
          )
          expect(granted).toEqual(
            isSettled ? requested.filter((scope) => scopes.includes(scope)) : undefined,
          )
          if (granted)
            expect(
              rememberedScopes(granted, { optionalScopes }, { scopes, declinedScopes }),
            ).toEqual(granted)
        },
      ),
      { runs: 1_000 },
    ))
})
