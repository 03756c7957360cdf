import { EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import { inspect } from 'node:util'
import {
  type AuthorizationServer,
  createAuthorizationServer,
  InvalidField,
  InvalidSettings,
  OAuthError,
  Scope,
  shortLived,
  table,
} from 'svc-oauth2server'
import { closeOnSignal, listen } from 'svc-oauth2server/environment'
import * as express from 'svc-oauth2server/express'
import * as fastify from 'svc-oauth2server/fastify'
import * as fetching from 'svc-oauth2server/fetch'
import * as hono from 'svc-oauth2server/hono'
import * as nest from 'svc-oauth2server/nest'
import * as node from 'svc-oauth2server/node'
import { postgres } from 'svc-oauth2server/postgres'
import { redis } from 'svc-oauth2server/redis'
import { sqlite } from 'svc-oauth2server/sqlite'
import { actAs, createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { publicDeclarations } from '../../scripts/api-reference.js'
import { names as settingNames, settings } from '../../src/settings/settings.ts'

// biome-ignore lint/suspicious/noExplicitAny: the objects of this test have members that the types do not permit
type Wrong = any

const unknown = { mistyped: 1 }
const request = () => new Request('http://localhost/')

let server: AuthorizationServer
beforeAll(async () => {
  server = await createTestServer()
})
afterAll(() => server.close())

const personalToken = async () => {
  const { id } = await server.users.create({
    email: `${crypto.randomUUID()}@a.example`,
    password: null,
  })
  const token = await server.tokens.createPersonal('x', id)
  const [managed] = (await server.personalTokens.listByUser(id, { after: null, limit: 1 })).items
  return { id, token, managed }
}

const clientId = async () => (await server.clients.create({ name: 'x' })).client.clientId

/** Passes an object with an unknown member, or with a wrong value, to each parameter that takes options. */
const calls: Readonly<Record<string, (wrong: Wrong) => unknown>> = {
  'createAuthorizationServer 0': (wrong) =>
    createAuthorizationServer({
      issuer: 'http://localhost',
      secretKeys: ['a secret key for tests, and for tests alone'],
      store: sqlite(':memory:'),
      ...wrong,
    }),
  'InvalidField.constructor 2': (wrong) => new InvalidField('x', 'y', wrong),
  'OAuthError.constructor 2': (wrong) => new OAuthError('invalid_request', 'x', wrong),
  'Scope.constructor 1': (wrong) => new Scope('x', wrong),
  'shortLived 0': (wrong) => shortLived(wrong),
  'table 1': (wrong) => table('people', { id: 'id', email: 'email', ...wrong }),
  'AuthorizationServer.fetch 1': async (wrong) => server.fetch(request(), wrong),
  'AuthorizationServer.currentUser 1': (wrong) => server.currentUser(request(), wrong),
  'AuthorizationServer.actingAs 0': (wrong) => server.actingAs(wrong, () => undefined),
  'AuthorizationServer.rotateSecretKeys 0': (wrong) => server.rotateSecretKeys(wrong),
  'environment:listen 1': (wrong) =>
    listen(() => undefined, { port: 0, host: '127.0.0.1', ...wrong }),
  'environment:closeOnSignal 2': (wrong) =>
    closeOnSignal(createServer(), async () => undefined, wrong),
  'express:rest 1': (wrong) => express.rest(server, wrong),
  'express:requireApiAuth 0': (wrong) => express.requireApiAuth(wrong),
  'fastify:rest 1': (wrong) => fastify.rest(server, wrong),
  'fastify:requireApiAuth 0': (wrong) => fastify.requireApiAuth(wrong),
  'fetch:credentialsOf 1': (wrong) => fetching.credentialsOf(request(), wrong, server),
  'fetch:rest 2': (wrong) => fetching.rest(server, request(), wrong),
  'fetch:rest 3': (wrong) => fetching.rest(server, request(), {}, wrong),
  'fetch:page 2': async (wrong) => fetching.page(server, request(), wrong),
  'fetch:requireApiAuth 0': (wrong) => fetching.requireApiAuth(wrong),
  'hono:mount 1': (wrong) => hono.mount(server, wrong),
  'hono:rest 1': (wrong) => hono.rest(server, wrong),
  'hono:requireApiAuth 0': (wrong) => hono.requireApiAuth(wrong),
  'hono:page 1': (wrong) => hono.page(server, wrong),
  'nest:RequireApiAuth 0': (wrong) => nest.RequireApiAuth(wrong),
  'nest:Resource 1': (wrong) => nest.Resource('https://api.example', wrong),
  'node:rest 1': (wrong) => node.rest(server, wrong),
  'node:requireApiAuth 0': (wrong) => node.requireApiAuth(wrong),
  'postgres:postgres 1': (wrong) => postgres('postgres://localhost/x', wrong),
  'redis:redis 1': (wrong) => redis('redis://localhost', wrong),
  'sqlite:sqlite 1': (wrong) => sqlite(':memory:', wrong),
  'testing:createTestServer 0': (wrong) => createTestServer(wrong),
  'testing:actAs 1': (wrong) => actAs(server, wrong),
  'scopes:Scope.constructor 1': (wrong) => new Scope('x', wrong),
  'Clients.create 0': (wrong) => server.clients.create({ name: 'x', ...wrong }),
  'Clients.create 2': (wrong) => server.clients.create({ name: 'x' }, undefined, wrong),
  'Clients.mark 1': async (wrong) => server.clients.mark(await clientId(), wrong),
  'Clients.update 1': async (wrong) => server.clients.update(await clientId(), wrong),
  'Clients.update 2': async (wrong) => server.clients.update(await clientId(), {}, wrong),
  'Clients.updateWithSecret 1': async (wrong) =>
    server.clients.updateWithSecret(await clientId(), wrong),
  'Clients.updateWithSecret 2': async (wrong) =>
    server.clients.updateWithSecret(await clientId(), {}, wrong),
  'Clients.resetClientSecret 1': async (wrong) =>
    server.clients.resetClientSecret(await clientId(), wrong),
  'Tokens.createPersonal 2': async (wrong) =>
    server.tokens.createPersonal('x', (await personalToken()).id, wrong),
  'PersonalTokens.create 2': async (wrong) =>
    server.personalTokens.create('x', (await personalToken()).id, wrong),
  'PersonalTokens.update 1': async (wrong) =>
    server.personalTokens.update((await personalToken()).managed as Wrong, wrong),
  'PersonalTokens.rotate 1': async (wrong) =>
    server.personalTokens.rotate((await personalToken()).token.id, wrong),
  'Administration.tokenSummaries 0': async (wrong) =>
    server.administration.tokenSummaries(wrong, { after: null, limit: 1 }),
  'Activity.search 0': (wrong) => server.activity.search(wrong, { after: null, limit: 1 }),
  'Activity.all 0': (wrong) => server.activity.all(wrong).next(),
  'Activity.counts 0': (wrong) => server.activity.counts(wrong).next(),
  'Activity.totals 0': (wrong) => server.activity.totals(wrong, 1),
  'Activity.verify 0': (wrong) => server.activity.verify(wrong),
  'Users.create 0': (wrong) =>
    server.users.create({ email: 'a@b.example', password: null, ...wrong }),
  'Users.setEmail 2': (wrong) => server.users.setEmail(1, 'a@b.example', wrong),
  'Consents.grant 3': async (wrong) => server.consents.grant(1, await clientId(), [], wrong),
}

/** Returns the error of a call, or `accepted`. */
const outcomeOf = async (call: () => unknown): Promise<unknown> => {
  try {
    const result = await call()
    if (result instanceof EventEmitter) result.removeAllListeners()
    return 'accepted'
  } catch (error) {
    return error
  }
}

/** Parameters that are no options, with the reason. */
const others: Readonly<Record<string, string>> = {
  'AuthorizationServer.direct 1': 'The adapters of this package call this method.',
  'AuthorizationServer.pageSession 0': 'The parts of a request, which an adapter reads.',
  'AuthorizationServer.challenge 0': 'A result of the server.',
  'nest:pageOf 0': 'A request.',
  'postgres:postgres 0': 'A pool of the driver.',
  'scopes:narrow 1': 'Two required lists.',
  'Tokens.issue 0': 'A result of a grant.',
  'Tokens.revokeAccess 0': 'A result of the server.',
  'Administration.endAllAccess 0': 'A user.',
  'Tokens.find 0': 'An issued token, with its other members, is accepted too.',
}
/** Classes that accept further members by specification. */
const open = /^JWT/

type Node = Readonly<Record<string, Wrong>>

const all = publicDeclarations()
const declarations = new Map(all.map((one) => [one.name, one]))

const parsed = (code: string): Node | undefined => {
  const [first = ''] = code.split('\n\ntype ')
  return parseAst(/^(?:const|class) /.test(first) ? `declare ${first}` : first, { lang: 'ts' })
    .body[0] as Node | undefined
}

/** Returns whether a type has named, mostly optional members, as options do. */
const isOptions = (type: Node | undefined): boolean => {
  if (type?.type === 'TSTypeLiteral')
    return type.members.every((member: Node) => member.type === 'TSPropertySignature')
  if (type?.type === 'TSUnionType' || type?.type === 'TSIntersectionType')
    return type.types.some(isOptions)
  if (type?.type !== 'TSTypeReference') return false
  const { name } = type.typeName
  const [argument] = type.typeArguments?.params ?? []
  if (name === 'Partial') return true
  if (['Pick', 'Omit', 'Readonly'].includes(name)) return isOptions(argument)
  const node = declarations.has(name) && parsed(declarations.get(name)?.code ?? '')
  if (!node) return false
  if (node.type === 'TSTypeAliasDeclaration') return isOptions(node.typeAnnotation)
  return node.type === 'TSInterfaceDeclaration' && node.body.body.some((one: Node) => one.optional)
}

const takingOptions = (label: string, parameters: readonly Node[]): readonly Parameter[] =>
  parameters.flatMap((parameter, index) => {
    const { typeAnnotation } = parameter.type === 'AssignmentPattern' ? parameter.left : parameter
    const type: Node | undefined = typeAnnotation?.typeAnnotation
    return type && isOptions(type) ? [{ label: `${label} ${index}`, type }] : []
  })

/** Returns the declaration to which a type refers. */
const declared = ({ typeName }: Node): Node | undefined => {
  const code = declarations.get(typeName.name)?.code
  return code === undefined ? undefined : parsed(code)
}

const literalsOf = (type: Node): readonly string[] =>
  type.type === 'TSUnionType' ? type.types.flatMap(literalsOf) : [String(type.literal?.value ?? '')]

/** Returns the members of an object of options, with their types. */
const membersOf = (type: Node): readonly (readonly [name: string, type: Node])[] => {
  const signatures = (members: readonly Node[]) =>
    members.flatMap((member): readonly [string, Node][] => {
      const { key, typeAnnotation } = member
      if (member.type === 'TSMethodSignature') return [[key.name, { type: 'TSFunctionType' }]]
      return typeAnnotation ? [[key.name, typeAnnotation.typeAnnotation]] : []
    })
  if (type.type === 'TSTypeLiteral') return signatures(type.members)
  if (type.type === 'TSUnionType' || type.type === 'TSIntersectionType')
    return type.types.flatMap(membersOf)
  if (type.type !== 'TSTypeReference') return []
  const [argument, keys] = type.typeArguments?.params ?? []
  const { name } = type.typeName
  if (name === 'Partial' || name === 'Readonly' || name === 'Required') return membersOf(argument)
  if (name === 'Pick')
    return membersOf(argument).filter(([member]) => literalsOf(keys).includes(member))
  if (name === 'Omit')
    return membersOf(argument).filter(([member]) => !literalsOf(keys).includes(member))
  const node = declared(type)
  if (node?.type === 'TSTypeAliasDeclaration') return membersOf(node.typeAnnotation)
  if (node?.type !== 'TSInterfaceDeclaration') return []
  const inherited = (node.extends ?? []).map(({ expression, typeArguments }: Node) => ({
    type: 'TSTypeReference',
    typeName: expression,
    typeArguments,
  }))
  return [...inherited.flatMap(membersOf), ...signatures(node.body.body)]
}

/** A value of each kind, and values that no option accepts. */
const samples: readonly (readonly [kind: string, value: unknown])[] = [
  ['string', 'mistyped'],
  ['number', 5],
  ['boolean', true],
  ['null', null],
  ['array', []],
  ['object', {}],
  ['function', () => undefined],
  ['nothing', Number.NaN],
  ['nothing', Number.POSITIVE_INFINITY],
  ['nothing', Symbol('mistyped')],
]

const kindOf: Readonly<Record<string, string>> = {
  TSStringKeyword: 'string',
  TSTemplateLiteralType: 'string',
  TSNumberKeyword: 'number',
  TSBooleanKeyword: 'boolean',
  TSNullKeyword: 'null',
  TSArrayType: 'array',
  TSTupleType: 'array',
  TSFunctionType: 'function',
  TSTypeLiteral: 'object',
  TSMappedType: 'object',
}

/** Returns the kinds of the values of a type; undefined for a type that accepts everything. */
const kindsOf = (type: Node): readonly string[] | undefined => {
  const kind = kindOf[type.type]
  if (kind !== undefined) return [kind]
  if (type.type === 'TSParenthesizedType' || type.type === 'TSTypeOperator')
    return kindsOf(type.typeAnnotation)
  if (type.type === 'TSIntersectionType') return kindsOf(type.types[0])
  if (type.type === 'TSUnionType') {
    const all: readonly (readonly string[] | undefined)[] = type.types.map(kindsOf)
    return all.some((kinds) => kinds === undefined)
      ? undefined
      : all.flatMap((kinds) => kinds ?? [])
  }
  if (type.type === 'TSLiteralType')
    return typeof type.literal.value === 'boolean' ? ['boolean'] : []
  if (type.type === 'TSUndefinedKeyword') return []
  if (type.type !== 'TSTypeReference') return undefined
  const [argument] = type.typeArguments?.params ?? []
  const { name } = type.typeName
  if (name === 'Readonly') return kindsOf(argument)
  if (/^(?:Readonly)?Array$/.test(name)) return ['array']
  const node = declared(type)
  if (node?.type === 'TSTypeAliasDeclaration') return kindsOf(node.typeAnnotation)
  const isCallable = node?.body?.body?.some?.(
    (one: Node) => one.type === 'TSCallSignatureDeclaration',
  )
  return [isCallable ? 'function' : 'object']
}

/** Returns the values that an option of a type must refuse. */
const wrongValues = (type: Node): readonly unknown[] => {
  const kinds = kindsOf(type)
  if (!kinds) return []
  const alone = samples.filter(([kind]) => !kinds.includes(kind)).map(([, value]) => value)
  const list = type.type === 'TSTypeOperator' ? type.typeAnnotation : type
  const item = list.type === 'TSArrayType' ? kindsOf(list.elementType) : undefined
  const items = samples.filter(([kind]) => item && !item.includes(kind))
  return [...alone, ...items.map(([, value]) => [value])]
}

interface Parameter {
  readonly label: string
  readonly type: Node
}

/** Returns the parameters of a declaration that take options, such as `table 1`. */
const optionsOf = ({
  name,
  entry,
  code,
}: {
  name: string
  entry?: string | undefined
  code: string
}) => {
  const node = parsed(code)
  const path = entry?.split('/')[1]
  const label = path === undefined ? name : `${path}:${name}`
  if (node?.type === 'VariableDeclaration' && entry !== undefined)
    return takingOptions(
      label,
      node.declarations[0].id.typeAnnotation?.typeAnnotation?.params ?? [],
    )
  const members: readonly Node[] =
    node?.type === 'ClassDeclaration' || node?.type === 'TSInterfaceDeclaration'
      ? node.body.body
      : []
  return members.flatMap((member) =>
    takingOptions(`${label}.${member.key?.name}`, member.value?.params ?? member.params ?? []),
  )
}

const recordClasses = [...(declarations.get('Records')?.code ?? '').matchAll(/: (\w+);/g)].map(
  ([, name = '']) => name,
)
/** Every parameter of a public function that takes options. */
const parameters = all
  .filter(({ name, entry, code }) =>
    entry === undefined
      ? recordClasses.includes(name)
      : /^(?:const|class) /.test(code) || name === 'AuthorizationServer',
  )
  .filter(({ name }) => name !== 'UserProxy' && !open.test(name))
  .flatMap(optionsOf)

describe('objects of options', () => {
  test('every public function that takes options is tested here [T3415]', () => {
    const found = parameters.map(({ label }) => label)
    const isErrorCode = (name: string) => name === 'OAuthError.constructor 0'
    const unique = [...new Set(found)].filter((name) => !isErrorCode(name)).sort()
    expect(unique).toEqual([...Object.keys(calls), ...Object.keys(others)].sort())
  })

  test.each(Object.entries(calls))(
    '%s refuses an unknown member and names it [T3416]',
    async (_, call) => {
      expect(String(await outcomeOf(() => call(unknown)))).toContain('mistyped is not an option')
    },
  )

  test.each(Object.entries(calls))(
    '%s refuses each option of a wrong type and names it [T4203]',
    async (label, call) => {
      const type = parameters.find((one) => one.label === label)?.type
      const options = membersOf(type as Node)
      expect(options).not.toEqual([])
      const accepted: string[] = []
      for (const [name, declaredType] of options)
        for (const value of wrongValues(declaredType)) {
          const error = await outcomeOf(() => call({ [name]: value }))
          if (error instanceof InvalidField) continue
          const isNamed =
            (error instanceof TypeError || error instanceof InvalidSettings) &&
            new RegExp(`\\b${name}\\b.* (?:must|accepts|missing)\\b`).test(error.message)
          if (!isNamed) accepted.push(`${name}: ${inspect(value)}: ${error}`)
        }
      expect(accepted).toEqual([])
    },
  )

  test.each(settingNames)('the setting %s is named if its type is wrong [T4204]', async (name) => {
    for (const [, value] of samples) {
      const isAccepted = settings[name].schema.safeParse(value).success
      // The unknown option refuses the start, after the other options were checked.
      const error = await outcomeOf(() => createTestServer({ [name]: value, ...unknown } as Wrong))
      expect(error).toBeInstanceOf(InvalidSettings)
      if (!isAccepted) expect((error as Error).message).toMatch(new RegExp(`\\b${name} .*accepts`))
    }
  })

  test.each([
    ['enabled', { enabled: 'active' }, 'The options are id, email, active'],
    ['mail', { mail: 'mail', email: undefined }, 'Did you mean email?'],
    ['email', { email: undefined }, 'email must be the name of a column'],
    ['active', { active: true }, 'active must be the name of a column'],
  ])('table() refuses %s [T3417]', (_, columns, sentence) => {
    const call = () => table('people', { id: 'id', email: 'mail', ...columns } as Wrong)
    expect(call).toThrow(TypeError)
    expect(call).toThrow(sentence)
  })

  test.each([
    [{ outbound: { proxy: 'x' } }, 'outbound: proxy is not an option'],
    [{ resources: [{ resource: 'https://a.example', scope: [] }] }, 'Did you mean scopes?'],
    [{ users: { find: async () => undefined, findByMail: 1 } }, 'Did you mean findByEmail?'],
    [{ users: { withPassword: async () => undefined } }, 'find must be a function'],
    [{ limits: { wrongPassword: { points: 1, seconds: 1 } } }, 'Did you mean wrongPasswords?'],
    [{ limits: { wrongTokens: { point: 1, seconds: 1 } } }, 'Did you mean points?'],
    [{ extensions: [{ name: 'x', endpoint: [] }] }, 'Did you mean endpoints?'],
    [{ extensions: [{ name: 'x', endpoints: [{ method: 'GET' }] }] }, 'Did you mean methods?'],
    [{ extensions: [{ name: 'x', grants: [{ typ: 'a:b' }] }] }, 'Did you mean type?'],
    [{ pages: { logni: () => '' } }, 'logni'],
    [{ sessionExpireIn: 60 }, 'Did you mean sessionExpiresIn?'],
  ])('createAuthorizationServer() refuses %j [T3418]', async (options, sentence) => {
    const started = createTestServer(options as Wrong).then(
      (made) => made.close().then(() => 'started'),
      String,
    )
    expect(await started).toContain(sentence)
  })

  test('an instance of a class of the application may have further members [T3419]', async () => {
    class People {
      readonly database = 'x'
      find = async () => undefined
      withPassword = async () => undefined
    }
    await (await createTestServer({ users: new People() })).close()
  })
})
