import { setTimeout as delay } from 'node:timers/promises'
import type { AroundStore } from 'svc-oauth2server'
import { expect, test } from 'vitest'
import { Limits } from '../../src/records/limits.ts'
import { storeOf } from '../support/internals.ts'
import type { TestOptions } from '../support/server.ts'
import { from, guesser, here, start } from './support.ts'

const redirectUri = 'https://client.example/cb'

/** Starts a server and records the names of store operations. */
const counting = async (options: TestOptions = {}) => {
  const asked: string[] = []
  const aroundStore: AroundStore = (operation, run) => {
    // Ignore audit events and token uses, which are written later in batches.
    if (!/^(?:audit|tokens\.touch)/.test(operation.name)) asked.push(operation.name)
    return run()
  }
  const app = await start({ ...options, aroundStore })
  const operationsOf = async (work: () => Promise<void>): Promise<readonly string[]> => {
    asked.length = 0
    await work()
    return [...asked]
  }
  return { app, operationsOf }
}

test('rejects a client with another metadata document after one look-up if too many fetches for its network are running [T836]', async () => {
  const fail: (() => void)[] = []
  const { app, operationsOf } = await counting({
    clientIdMetadataDocuments: true,
    outbound: {
      resolve: () => new Promise((_, reject) => fail.push(() => reject(new Error('silent')))),
    },
  })
  await using _ = app
  const name = async (number: number) => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: `https://host-${number}.silent.example/client.json`,
      redirect_uri: redirectUri,
    })
    const response = await fetch(`${app.issuer}/oauth/authorize?${query}`, {
      headers: from(here),
      redirect: 'manual',
    })
    return decodeURIComponent(response.headers.get('location') ?? '')
  }
  const waiting = Array.from({ length: 17 }, (_, number) => name(number))
  await expect.poll(() => fail.length).toBe(17)
  const refused = await operationsOf(async () => {
    for (let number = 100; number < 110; number += 1)
      expect(await name(number)).toMatch(/Too many requests are already running/)
  })
  // A pinned client needs no fetch, so the server looks up whether the client is pinned.
  expect(refused).toEqual(Array.from({ length: 10 }, () => 'clients.find'))
  expect(fail).toHaveLength(17)
  for (const end of fail) end()
  await Promise.all(waiting)
})

test('rejects a registration at the limit of its network without a database operation [T837]', async () => {
  const { app, operationsOf } = await counting({
    dynamicRegistration: 'open',
    limits: { registrationsOfNetwork: { points: 2, seconds: 600 } },
  })
  await using _ = app
  const register = async (address: string) => {
    const { status } = await fetch(`${app.issuer}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...from(address) },
      body: JSON.stringify({ redirect_uris: [redirectUri] }),
    })
    return status
  }
  for (const status of [201, 201, 429]) expect(await register(here)).toBe(status)
  const refused = await operationsOf(async () => {
    for (let host = 10; host < 20; host += 1) expect(await register(`192.0.2.${host}`)).toBe(429)
  })
  expect(refused).toEqual([])
  expect(await register('198.51.100.2')).toBe(201)
})

test('reads the stored guesses of an account at most once a second while its limit is reached [T838]', async () => {
  const { app, operationsOf } = await counting({
    limits: { wrongPasswordsOfAccount: { points: 2, seconds: 600 } },
  })
  await using _ = app
  const guess = guesser(app, here)
  for (let wrong = 0; wrong < 2; wrong += 1) expect((await guess('wrong')).status).toBe(403)
  const refusals = () =>
    operationsOf(async () => {
      for (let wrong = 0; wrong < 3; wrong += 1) expect((await guess('wrong')).status).toBe(429)
    })
  expect(await refusals()).toEqual(['transients.get'])
  expect(await refusals()).toEqual([])
  app.advance(1)
  expect(await refusals()).toEqual(['transients.get'])
  app.advance(600)
  expect((await guess(app.password)).status).toBe(303)
})

test('needs one write per guess and limit when several passwords of an account are tried concurrently [T1041]', async () => {
  const tries = 8
  const puts: string[] = []
  let readers = 0
  const allHaveRead = Promise.withResolvers<void>()
  const aroundStore: AroundStore = async (operation, run) => {
    if (operation.name === 'transients.increment') puts.push(operation.name)
    const result = await run()
    if (operation.name === 'transients.get') {
      readers += 1
      if (readers === tries) allHaveRead.resolve()
      await allHaveRead.promise
    }
    return result
  }
  await using app = await start({ aroundStore })
  const guess = guesser(app, here)
  puts.length = 0
  const responses = await Promise.all(Array.from({ length: tries }, () => guess('wrong')))
  expect(responses.map(({ status }) => status)).toEqual(Array(tries).fill(403))
  // Two limits apply to each guess: the limit of the account, and the limit of the account in the network.
  expect(puts).toHaveLength(2 * tries)
})

test('sends one increment of a shared counter at a time, so that waiting for the row occupies only one connection [T1042]', async () => {
  await using app = await start()
  const { transients } = storeOf(app.server)
  let running = 0
  let maxRunning = 0
  const observed = Object.assign(Object.create(transients) as typeof transients, {
    async increment(...args: Parameters<typeof transients.increment>) {
      running += 1
      maxRunning = Math.max(maxRunning, running)
      // Fixed time: concurrent operations overlap.
      await delay(1)
      running -= 1
      return transients.increment(...args)
    },
  })
  const limits = new Limits(observed, app.now)
  const consumed = Array.from({ length: 8 }, () => limits.consume('registrationsOfNetwork', here))
  await Promise.all(consumed)
  expect(maxRunning).toBe(1)
})
