import { emailScope, OAuthError, Scope, ScopeDoesNotExists, ScopeRegistry } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { builtInScopes } from '../../src/model/openid-scopes.ts'
import { isWithin, narrow, parseScope } from '../../src/model/scope.ts'
import { languages } from '../support/languages.ts'

describe('Scope', () => {
  test('has empty texts and is not internal by default [T710]', () => {
    expect({ ...new Scope('homepage:read') }).toEqual({
      id: 'homepage:read',
      helpText: '',
      group: '',
      isInternal: false,
      access: 'read',
    })
  })

  test('maps the constructor argument `internal` to the field isInternal [T712]', () => {
    const scope = new Scope('a', { helpText: 'Help', group: 'G', internal: true })
    expect({ ...scope }).toEqual({ id: 'a', helpText: 'Help', group: 'G', isInternal: true })
  })

  test.each([undefined, null, 42, {}, '', 'a b', 'ü', 'x'.repeat(256)])(
    'refuses the ID %j with a sentence that names the argument [T4108]',
    (id) => {
      expect(() => new Scope(id as never)).toThrow(/^new Scope\(id, options\): id accepts /)
    },
  )

  test.each([
    ['notes:read', 'read'],
    ['read:org', 'read'],
    ['https://api.example/notes.readonly', 'read'],
    ['notes:write', 'write'],
    ['read-write', 'write'],
    ['admin:read', 'write'],
    ['DELETE_ALL', 'write'],
    ['spreadsheet', undefined],
    ['rewritten', undefined],
    ['openid', undefined],
  ] as const)('derives from the ID %s the access %s [T1100]', (id, access) => {
    expect(new Scope(id).access).toBe(access)
  })

  test('takes the access and the risk from its options [T1101]', () => {
    expect(new Scope('notes:read', { access: 'write' }).access).toBe('write')
    expect(new Scope('notes:read', { access: 'write' }).risk).toBeUndefined()
    expect(new Scope('openid', { access: 'read', risk: 'high' })).toMatchObject({
      access: 'read',
      risk: 'high',
    })
  })

  test('provides the built-in scope email_scope [T716]', () => {
    expect(emailScope).toBeInstanceOf(Scope)
    expect(emailScope.id).toBe('user:email')
    expect(emailScope.isInternal).toBe(false)
  })

  test.each(['', 'a b', 'a\tb', 'a\nb', 'a"b', 'a\\b', 'é', 'a\u0000', 'x'.repeat(256)])(
    'RFC 6749 §3.3 rejects %j as a scope ID [T711]',
    (id) => {
      expect(() => new Scope(id)).toThrow(TypeError)
    },
  )

  test('RFC 6749 §3.3 accepts every other printable ASCII character in an ID [T106]', () => {
    const id = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index))
      .filter((character) => character !== '"' && character !== '\\')
      .join('')
    expect(new Scope(id).id).toBe(id)
    expect(new Scope('x'.repeat(255)).id).toHaveLength(255)
  })
})

describe('the texts of a scope', () => {
  const scope = new Scope('a', {
    helpText: 'Read',
    group: 'Notes',
    translations: {
      de: { helpText: 'Lesen', group: 'Notizen' },
      fr: { helpText: 'Lire' },
      ja: { group: 'ノート' },
      pl: {},
    },
  })

  test.each([
    ['de', { helpText: 'Lesen', group: 'Notizen' }],
    ['fr', { helpText: 'Lire', group: 'Notes' }],
    ['ja', { helpText: 'Read', group: 'ノート' }],
    ['pl', { helpText: 'Read', group: 'Notes' }],
    ['en', { helpText: 'Read', group: 'Notes' }],
    ['', { helpText: 'Read', group: 'Notes' }],
  ])(
    'are translated to the language %j, or in the default language without a translation',
    (language, texts) => {
      expect(scope.textsFor(language)).toEqual(texts)
    },
  )

  test('DS-06 treat names of Object.prototype as unknown languages', () => {
    for (const language of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect(scope.textsFor(language)).toEqual({ helpText: 'Read', group: 'Notes' })
  })

  test('preserve the fields of the scope, and accept an empty text as a translation', () => {
    expect({ ...scope }).toEqual({ id: 'a', helpText: 'Read', group: 'Notes', isInternal: false })
    const silent = new Scope('b', { helpText: 'Help', translations: { de: { helpText: '' } } })
    expect(silent.textsFor('de').helpText).toBe('')
  })
})

describe('ScopeRegistry', () => {
  const registry = new ScopeRegistry([
    new Scope('b:x'),
    new Scope('a:x'),
    new Scope('c:x', { internal: true }),
  ])

  test('throws a TypeError for a value that is not a Scope', () => {
    const lookalike = { id: 'a', helpText: '', group: '', isInternal: false }
    for (const value of [lookalike, 'a', null, undefined]) {
      expect(() => new ScopeRegistry([value as Scope])).toThrow(TypeError)
    }
  })

  test('rejects a second scope with the same ID', () => {
    const first = new Scope('a')
    const once = new ScopeRegistry([first])
    expect(() => once.register(new Scope('a', { internal: true }))).toThrow(
      /a is already registered/,
    )
    expect(once.get('a')).toBe(first)
  })

  test('choices() excludes internal scopes, all() includes them, and both sort by ID [T719]', () => {
    expect(registry.choices().map(({ id }) => id)).toEqual(['a:x', 'b:x'])
    expect(registry.all().map(({ id }) => id)).toEqual(['a:x', 'b:x', 'c:x'])
    expect(registry.requestable()).toEqual(['a:x', 'b:x'])
  })

  test('validated() removes duplicate scopes and accepts internal scopes', () => {
    expect(registry.validated(['b:x', 'a:x', 'b:x', 'c:x'])).toEqual(['b:x', 'a:x', 'c:x'])
    expect(registry.validated([])).toEqual([])
  })

  test('throws ScopeDoesNotExists with the name of an unregistered scope; IDs are case-sensitive [T680]', () => {
    for (const id of ['nope', 'A:X', '', 'a:x ']) {
      const refused = expect(() => registry.validated(['a:x', id]))
      refused.toThrow(ScopeDoesNotExists)
      refused.toThrow(expect.objectContaining({ name: 'ScopeDoesNotExists', scope: id }))
    }
  })

  test('DS-06 treats names of Object.prototype as ordinary unknown names', () => {
    for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(() => registry.validated([id])).toThrow(ScopeDoesNotExists)
      expect(registry.get(id)).toBeUndefined()
      expect(registry.visible([id])).toEqual([])
    }
    expect(new ScopeRegistry([new Scope('__proto__')]).validated(['__proto__'])).toEqual([
      '__proto__',
    ])
  })

  test('visible() returns only registered scopes that are not internal', () => {
    expect(registry.visible(['c:x', 'b:x', 'gone'])).toEqual(['b:x'])
    expect(registry.registered(['c:x', 'b:x', 'gone'])).toEqual(['c:x', 'b:x'])
  })
})

describe('the scope parameter', () => {
  test('SC-05 RFC 6749 §3.3 is split at spaces into distinct scope tokens', () => {
    expect(parseScope('a b')).toEqual(['a', 'b'])
    expect(parseScope('a a b a')).toEqual(['a', 'b'])
  })

  test.each(['a\tb', 'a\nb', 'a"x', 'a\\', 'ä', `a ${'x'.repeat(256)}`, '\u0000'])(
    'SC-05 rejects %j with invalid_scope',
    (text) => {
      expect(() => parseScope(text)).toThrow(expect.objectContaining({ code: 'invalid_scope' }))
    },
  )

  test('narrow() returns the requested scopes if they are allowed, or the default without a request', () => {
    const rules = { within: ['a', 'b'], otherwise: ['a'] }
    expect(narrow('b', rules)).toEqual(['b'])
    expect(narrow(undefined, rules)).toEqual(['a'])
    expect(() => narrow('a c', rules)).toThrow(OAuthError)
    expect(() => narrow('c', rules)).toThrow(expect.objectContaining({ code: 'invalid_scope' }))
    // A default must not exceed the allowed scopes.
    expect(() => narrow(undefined, { within: [], otherwise: ['a'] })).toThrow(OAuthError)
  })

  test('isWithin() compares scopes exactly', () => {
    expect(isWithin([], [])).toBe(true)
    expect(isWithin(['a'], ['a', 'b'])).toBe(true)
    expect(isWithin(['a', 'c'], ['a', 'b'])).toBe(false)
    expect(isWithin(['a'], ['a:x', 'A'])).toBe(false)
  })

  test('DS-02 handles a hundred thousand scopes quickly', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `s${index}`)
    const registry = new ScopeRegistry(many.map((id) => new Scope(id)))
    const before = process.cpuUsage()
    expect(registry.validated(many)).toHaveLength(100_000)
    expect(isWithin(many, many)).toBe(true)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(1_000)
  })
})

test.each(Object.entries(languages))(
  'built-in scopes have different texts in the language %s [T4121]',
  (_, { scopes: { helpTexts } }) => {
    expect(Object.keys(helpTexts)).toEqual(builtInScopes.map(({ id }) => id))
    expect(new Set(Object.values(helpTexts)).size).toBe(builtInScopes.length)
  },
)
