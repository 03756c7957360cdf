import 'reflect-metadata'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import type { AuthorizationServer, LogEntry } from 'svc-oauth2server'
import { mount as mountOnExpress } from 'svc-oauth2server/express'
import { mount as mountOnFastify } from 'svc-oauth2server/fastify'
import { mount as mountOnHono } from 'svc-oauth2server/hono'
import { mount as mountOnNest } from 'svc-oauth2server/nest'
import { chain, mount as mountOnNode } from 'svc-oauth2server/node'
import { createTestServer } from 'svc-oauth2server/testing'
import { describe, expect, test } from 'vitest'
import { clientAddress } from '../../src/protocol/session/client-address.ts'

type Ask = (clientId: string, forwardedFor?: string) => Promise<number>

const body = (client_id: string): string =>
  new URLSearchParams({
    grant_type: 'client_credentials',
    client_id,
    client_secret: 'wrong',
  }).toString()
const form = 'application/x-www-form-urlencoded'
const forwarded = (address: string | undefined) => ({
  'content-type': form,
  ...(address !== undefined && { 'x-forwarded-for': address }),
})

/** Sends a request over the Unix socket at the path. */
const overSocket =
  (socketPath: string): Ask =>
  (clientId, forwardedFor) =>
    new Promise((resolve, reject) => {
      const options = { socketPath, path: '/oauth/token', method: 'POST' }
      const sent = request({ ...options, headers: forwarded(forwardedFor) }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      sent.once('error', reject).end(body(clientId))
    })

/** Starts an application on a Unix socket. @returns a function that stops the application */
type Host = (server: AuthorizationServer, path: string) => Promise<() => Promise<unknown>>

const listening = async (server: Server, path: string) => {
  server.listen(path)
  await once(server, 'listening')
  return () => new Promise((resolve) => server.close(resolve).closeAllConnections())
}

class NestApp {}
Module({})(NestApp)

const hosts: readonly { readonly name: string; readonly host: Host }[] = [
  {
    name: 'node:http',
    host: (server, path) => listening(createServer(chain(mountOnNode(server))), path),
  },
  {
    name: 'Express',
    host: (server, path) => listening(createServer(express().use(mountOnExpress(server))), path),
  },
  {
    name: 'Fastify',
    async host(server, path) {
      const app = Fastify()
      await app.register(mountOnFastify(server))
      await app.listen({ path })
      return () => app.close()
    },
  },
  {
    name: 'Hono',
    host: (server, path) => {
      const { fetch } = new Hono().use(mountOnHono(server))
      return listening(createAdaptorServer({ fetch }) as Server, path)
    },
  },
  {
    name: 'Nest',
    async host(server, path) {
      const app = await NestFactory.create(NestApp, { logger: false })
      app.use(mountOnNest(server))
      await app.listen(path)
      return () => app.close()
    },
  },
]

const over = (host: Host) => async (server: AuthorizationServer) => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-socket-'))
  const path = join(folder, 'socket')
  const close = await host(server, path)
  return {
    ask: overSocket(path),
    async close() {
      await close()
      await rm(folder, { recursive: true })
    },
  }
}

const overFetch = async (server: AuthorizationServer) => ({
  ask: async (clientId: string, forwardedFor?: string) => {
    const headers = forwarded(forwardedFor)
    const init = { method: 'POST', headers, body: body(clientId) }
    return (await server.fetch(new Request('http://localhost/oauth/token', init))).status
  },
  close: async () => undefined,
})

const ways = [
  ...hosts.map(({ name, host }) => ({ name: `${name} on a Unix socket`, open: over(host) })),
  { name: 'fetch without an address', open: overFetch },
]

const limits = {
  wrongSecrets: { points: 3, seconds: 60 },
  wrongSecretsOfClient: { points: 5, seconds: 60 },
}
const [one, two] = ['192.0.2.1', '198.51.100.2']

describe.each(ways)('$name', ({ open }) => {
  const start = async (trustedProxies: readonly string[]) => {
    const log: LogEntry[] = []
    const server = await createTestServer({
      limits,
      trustedProxies,
      log: (entry) => log.push(entry),
    })
    const { ask, close } = await open(server)
    return {
      ask,
      server,
      warnings: () => log.filter(({ event }) => event === 'address.missing'),
      async [Symbol.asyncDispose]() {
        await close()
        await server.close()
      },
    }
  }

  test('trustedProxies `unix` counts each forwarded address separately', async () => {
    await using host = await start(['unix'])
    for (let times = 0; times < 3; times += 1) expect(await host.ask('nobody', one)).toBe(401)
    expect(await host.ask('nobody', one)).toBe(429)
    expect(await host.ask('nobody', two)).toBe(401)
    expect(host.warnings()).toEqual([])
  })

  test('without an IP address, applies only the limits of accounts and clients, and logs one warning', async () => {
    await using host = await start([])
    const user = await host.server.users.create({ email: 'user-a@example.org', password: null })
    const { client } = await host.server.clients.create({
      name: 'Client',
      userId: user.id,
      redirectUris: ['https://app.example/callback'],
    })
    for (let times = 0; times < 10; times += 1) expect(await host.ask('nobody', one)).toBe(401)
    for (let times = 0; times < 5; times += 1) expect(await host.ask(client.clientId)).toBe(401)
    expect(await host.ask(client.clientId)).toBe(429)
    expect(await host.ask('nobody')).toBe(401)
    expect(host.warnings()).toMatchObject([{ level: 'warn' }])
  })
})

describe('clientAddress', () => {
  test('with `unix`, returns the rightmost address in the header that is not trusted', () => {
    const of = clientAddress(['unix', '10.0.0.0/8'])
    expect(of(undefined, `${one}, ${two}, 10.1.2.3`)).toBe(two)
    expect(of(undefined, '10.1.2.3')).toBe('10.1.2.3')
    expect(of(undefined, 'nonsense')).toBe('')
    expect(of(undefined, null)).toBe('')
    expect(of(two, one), 'a peer with an IP address is not the Unix socket').toBe(two)
  })

  test('without `unix`, ignores the header from a peer without an address', () => {
    expect(clientAddress(['10.0.0.0/8'])(undefined, one)).toBe('')
  })
})
