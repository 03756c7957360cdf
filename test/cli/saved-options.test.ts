import { expect, test } from 'vitest'
import { clientToWire, personalTokenToWire } from '../../src/account/wire.ts'
import { newClient } from '../../src/pages/forms/client.ts'
import { newPersonalToken } from '../../src/pages/forms/personal-token.ts'
import { values } from '../pages/api/form-values.ts'
import { optionOf } from './field-options.ts'
import { declareScopes, workplace } from './workplace.ts'

/** The fields whose value differs in type from the value of the option. */
const otherTypes = ['is_confidential', 'application_type', 'expires', 'expiry', 'time_zone']
const scopes = ['notes:read', 'user:email']
const samples = { ...values, scopes, default_scopes: scopes, optional_scopes: ['test:scope'] }

test.each([
  ['tokens', newPersonalToken],
  ['clients', newClient],
] as const)(
  '`%s create` saves the value of every option for a field [T3210]',
  async (group, form) => {
    await using place = await workplace()
    await declareScopes(place)
    const server = await place.open()
    const { id, email } = await server.users.create({ email: 'me@example.org', password: null })
    const fields = Object.keys(form.shape).filter((name) => !otherTypes.includes(name))
    const sent = Object.fromEntries(
      fields.map((name) => [name, samples[name as keyof typeof samples]]),
    )
    const options = Object.entries(sent).flatMap(([name, value]) =>
      [value].flat().flatMap((one) => [`--${optionOf(name)}`, String(one)]),
    )
    const env = { OAUTH2SERVER_OPENID_CONNECT: 'true' }
    const outcome = await place.runWith({ env }, group, 'create', '--user', email, ...options)
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    const cursor = { after: null, limit: 10 }
    const [token] = (await server.personalTokens.listByUser(id, cursor)).items
    const [owned] = (await server.clients.ofOwner(id, cursor)).items
    const settings = { ...server.settings, openidConnect: true }
    const saved =
      group === 'tokens'
        ? token && { ...personalTokenToWire(token), scopes: token.token.scopes }
        : owned && {
            ...clientToWire(owned.client, 0, { scopes: server.scopes, settings }),
            optional_scopes: owned.client.optionalScopes,
          }
    expect(fields.length).toBeGreaterThan(1)
    expect(saved).toMatchObject(sent)
    await server.close()
  },
)

test.each([
  ['tokens', newPersonalToken],
  ['clients', newClient],
] as const)(
  '`%s create` refuses a text of 10,000 characters in every option for a field [T3212]',
  async (group, form) => {
    await using place = await workplace()
    await declareScopes(place)
    const server = await place.open()
    const { email } = await server.users.create({ email: 'me@example.org', password: null })
    await server.close()
    const fields = Object.keys(form.shape).filter((name) => !otherTypes.includes(name))
    const long = 'x'.repeat(10_000)
    const outcomes = await place.runAll(
      fields.map((name) => {
        const options = { name: 'Printer', [optionOf(name)]: long }
        const texts = Object.entries(options).flatMap(([option, text]) => [`--${option}`, text])
        return [group, 'create', '--user', email, ...texts]
      }),
    )
    expect(fields.length).toBeGreaterThan(1)
    expect(fields.filter((_, index) => outcomes[index]?.code === 0)).toEqual([])
  },
)
