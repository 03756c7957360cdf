import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { Contract } from './contract.ts'
import { changes, forms, savedFields, values, valuesOf } from './form-values.ts'
import { type Fields, Script } from './script.ts'

let app: TestServer
let contract: Contract
let user: Script
beforeAll(async () => {
  app = await startServer({ openidConnect: true })
  contract = await Contract.of(app)
  user = await Script.logIn(app)
})
afterAll(() => app.close())

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

test.each(forms)(
  'saves every field of %s, from JSON and from a form [T1904]',
  async (schema, at) => {
    const names = savedFields(contract, schema)
    expect(names.length).toBeGreaterThan(1)
    expect(names.filter((name) => !(name in values))).toEqual([])
    const sent = valuesOf(names)
    for (const as of ['post', 'postForm'] as const) {
      const { body } = await user[as](await at(app), sent)
      expect([as, body]).toMatchObject([as, sent])
    }
  },
)

const events = ['client.edited', 'personal_token.edited']

test.each(changes.map(([schema, at], index) => [schema, at, events[index]] as const))(
  'records every changed field of %s in the audit log [T1905]',
  async (schema, at, event) => {
    const names = savedFields(contract, schema)
    await user.post(await at(app), valuesOf(names))
    const [row] = await app.query(
      `select details from oauth2server_audit where event = '${event}' order by id desc limit 1`,
    )
    const { fields } = JSON.parse(String(row?.details)) as { readonly fields: readonly string[] }
    expect(names.filter((name) => !fields.includes(name))).toEqual([])
  },
)

/** The fields that cannot be empty. */
const required = ['name', 'is_confidential', 'redirect_uris']

test.each(changes)(
  'clears each optional field of %s, and keeps the other fields [T3211]',
  async (schema, at) => {
    const names = savedFields(contract, schema)
    const path = await at(app)
    const optional = names.filter((name) => !required.includes(name))
    expect(optional.length).toBeGreaterThan(1)
    for (const name of optional) {
      const before = await user.post(path, valuesOf(names))
      const { status, body } = await user.post(path, { [name]: isList(values[name]) ? [] : '' })
      const { [name]: cleared, ...others } = body as Fields
      const { [name]: _, ...same } = before.body as Fields
      expect([name, status, [cleared ?? ''].flat().join(' ')]).toEqual([name, 200, ''])
      expect([name, others]).toEqual([name, same])
    }
  },
)

test.each(forms)(
  'refuses a text of 60,000 characters in every field of %s [T2001]',
  async (schema, at) => {
    const names = savedFields(contract, schema)
    const long = 'x'.repeat(60_000)
    for (const name of names) {
      const { status } = await user.post(await at(app), {
        ...valuesOf(names),
        [name]: isList(values[name]) ? [long] : long,
      })
      expect([name, status]).toEqual([name, 400])
    }
  },
)
