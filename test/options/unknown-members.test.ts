import { EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import {
  type AuthorizationServer,
  createAuthorizationServer,
  InvalidField,
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

// biome-ignore lint/suspicious/noExplicitAny: the objects of this test have members that the types do not permit
type Wrong = any

const wrong: Wrong = { mistyped: 1 }
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

/** Passes an object with an unknown member to each parameter that takes options. */
const calls: Readonly<Record<string, () => unknown>> = {
  'createAuthorizationServer 0': () =>
    createAuthorizationServer({
      issuer: 'http://localhost',
      secretKeys: ['a secret key for tests, and for tests alone'],
      store: sqlite(':memory:'),
      ...wrong,
    }),
  'InvalidField.constructor 2': () => new InvalidField('x', 'y', wrong),
  'OAuthError.constructor 2': () => new OAuthError('invalid_request', 'x', wrong),
  'Scope.constructor 1': () => new Scope('x', wrong),
  'shortLived 0': () => shortLived(wrong),
  'table 1': () => table('people', { id: 'id', email: 'email', ...wrong }),
  'AuthorizationServer.fetch 1': async () => server.fetch(request(), wrong),
  'AuthorizationServer.currentUser 1': () => server.currentUser(request(), wrong),
  'AuthorizationServer.actingAs 0': () => server.actingAs(wrong, () => undefined),
  'AuthorizationServer.rotateSecretKeys 0': () => server.rotateSecretKeys(wrong),
  'environment:listen 1': () => listen(() => undefined, { port: 0, host: '127.0.0.1', ...wrong }),
  'environment:closeOnSignal 2': () => closeOnSignal(createServer(), async () => undefined, wrong),
  'express:rest 1': () => express.rest(server, wrong),
  'express:requireApiAuth 0': () => express.requireApiAuth(wrong),
  'fastify:rest 1': () => fastify.rest(server, wrong),
  'fastify:requireApiAuth 0': () => fastify.requireApiAuth(wrong),
  'fetch:credentialsOf 1': () => fetching.credentialsOf(request(), wrong, server),
  'fetch:rest 2': () => fetching.rest(server, request(), wrong),
  'fetch:rest 3': () => fetching.rest(server, request(), {}, wrong),
  'fetch:page 2': async () => fetching.page(server, request(), wrong),
  'fetch:requireApiAuth 0': () => fetching.requireApiAuth(wrong),
  'hono:mount 1': () => hono.mount(server, wrong),
  'hono:rest 1': () => hono.rest(server, wrong),
  'hono:requireApiAuth 0': () => hono.requireApiAuth(wrong),
  'hono:page 1': () => hono.page(server, wrong),
  'nest:RequireApiAuth 0': () => nest.RequireApiAuth(wrong),
  'nest:Resource 1': () => nest.Resource('https://api.example', wrong),
  'node:rest 1': () => node.rest(server, wrong),
  'node:requireApiAuth 0': () => node.requireApiAuth(wrong),
  'postgres:postgres 1': () => postgres('postgres://localhost/x', wrong),
  'redis:redis 1': () => redis('redis://localhost', wrong),
  'sqlite:sqlite 1': () => sqlite(':memory:', wrong),
  'testing:createTestServer 0': () => createTestServer(wrong),
  'testing:actAs 1': () => actAs(server, wrong),
  'scopes:Scope.constructor 1': () => new Scope('x', wrong),
  'Clients.create 0': () => server.clients.create({ name: 'x', ...wrong }),
  'Clients.create 2': () => server.clients.create({ name: 'x' }, undefined, wrong),
  'Clients.mark 1': async () => server.clients.mark(await clientId(), wrong),
  'Clients.update 1': async () => server.clients.update(await clientId(), wrong),
  'Clients.update 2': async () => server.clients.update(await clientId(), {}, wrong),
  'Clients.updateWithSecret 1': async () =>
    server.clients.updateWithSecret(await clientId(), wrong),
  'Clients.updateWithSecret 2': async () =>
    server.clients.updateWithSecret(await clientId(), {}, wrong),
  'Clients.resetClientSecret 1': async () =>
    server.clients.resetClientSecret(await clientId(), wrong),
  'Tokens.createPersonal 2': async () =>
    server.tokens.createPersonal('x', (await personalToken()).id, wrong),
  'PersonalTokens.create 2': async () =>
    server.personalTokens.create('x', (await personalToken()).id, wrong),
  'PersonalTokens.update 1': async () =>
    server.personalTokens.update((await personalToken()).managed as Wrong, wrong),
  'PersonalTokens.rotate 1': async () =>
    server.personalTokens.rotate((await personalToken()).token.id, wrong),
  'Administration.tokenSummaries 0': async () =>
    server.administration.tokenSummaries(wrong, { after: null, limit: 1 }),
  'Activity.search 0': () => server.activity.search(wrong, { after: null, limit: 1 }),
  'Activity.all 0': () => server.activity.all(wrong).next(),
  'Activity.counts 0': () => server.activity.counts(wrong).next(),
  'Activity.totals 0': () => server.activity.totals(wrong, 1),
  'Activity.verify 0': () => server.activity.verify(wrong),
  'Users.create 0': () => server.users.create({ email: 'a@b.example', password: null, ...wrong }),
  'Users.setEmail 2': () => server.users.setEmail(1, 'a@b.example', wrong),
  'Consents.grant 3': async () => server.consents.grant(1, await clientId(), [], wrong),
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

const takingOptions = (label: string, parameters: readonly Node[]): readonly string[] =>
  parameters.flatMap((parameter, index) => {
    const { typeAnnotation } = parameter.type === 'AssignmentPattern' ? parameter.left : parameter
    return isOptions(typeAnnotation?.typeAnnotation) ? [`${label} ${index}`] : []
  })

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

describe('objects of options', () => {
  test('every public function that takes options is tested here [T3415]', () => {
    const records = [...(declarations.get('Records')?.code ?? '').matchAll(/: (\w+);/g)]
    const classes = records.map(([, name = '']) => name)
    const found = all
      .filter(({ name, entry, code }) =>
        entry === undefined
          ? classes.includes(name)
          : /^(?:const|class) /.test(code) || name === 'AuthorizationServer',
      )
      .filter(({ name }) => name !== 'UserProxy' && !open.test(name))
      .flatMap(optionsOf)
    const isErrorCode = (name: string) => name === 'OAuthError.constructor 0'
    const unique = [...new Set(found)].filter((name) => !isErrorCode(name)).sort()
    expect(unique).toEqual([...Object.keys(calls), ...Object.keys(others)].sort())
  })

  test.each(Object.entries(calls))(
    '%s refuses an unknown member and names it [T3416]',
    async (_, call) => {
      const error = await Promise.resolve()
        .then(call)
        .then((result) => {
          if (result instanceof EventEmitter) result.removeAllListeners()
          return 'accepted'
        }, String)
      expect(error).toContain('mistyped is not an option')
    },
  )

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
