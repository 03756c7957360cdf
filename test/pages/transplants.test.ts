import { describe, expect, test } from 'vitest'
import { UserAgent } from '../support/user-agent.ts'
import { newWorld, type World } from './settings/every-page.ts'
import { body, type Form, Person } from './settings/support.ts'

// Puts every random value of every form into every other place: another field, another session of the same user, and
// another user. The forms are read from the pages, so a new field is tested without a change of this file.

/** The fields whose value decides nothing, with the reason. */
const harmless: Readonly<Record<string, string>> = {
  form_id:
    'recognizes a repeated form, and names the user whose page contained it: test/session/held-values.test.ts',
  version: 'a digest of the displayed values: another value only shows the form again',
  client_id: 'names an object that the user may see anyway',
  id: 'names an object that the user may see anyway',
  session_id: 'names an object that the user may see anyway',
}

/** The fields whose value works in every browser, with the reason. */
const everywhere: Readonly<Record<string, string>> = {
  token: 'comes from an e-mail, and its purpose and user are sealed in it',
}

const looksRandom = (value: string): boolean => /^[A-Za-z0-9_~.-]{20,}$/.test(value)

/** A form that a person may send, and its random values. */
interface Found {
  readonly who: Person
  readonly path: string
  readonly form: Form
  readonly secrets: Readonly<Record<string, string>>
}

const formsOf = async (who: Person, path: string): Promise<readonly Found[]> => {
  const page = await who.get(path)
  return page.forms.map((form) => ({
    who,
    path,
    form,
    secrets: Object.fromEntries(
      Object.entries(form.fields).flatMap(([name, [value = '', ...more]]) =>
        more.length === 0 && looksRandom(value) && !(name in harmless) ? [[name, value]] : [],
      ),
    ),
  }))
}

describe('a random value of a form', () => {
  const eventsOf = async ({ app }: World): Promise<number> =>
    (await app.query('select id from oauth2server_audit')).length

  test('is refused in another field, in another session, and from another user [T4254]', async () => {
    await using world = await newWorld()
    const events = () => eventsOf(world)
    const { app, person } = world
    const second = await Person.logIn(app)
    const other = await Person.stranger(app, { isAdmin: true })
    const own: Found[] = []
    const elsewhere = new Map<string, Set<string>>()
    for (const { path, who } of world.pages) {
      own.push(...(await formsOf(who, path)))
      for (const someone of [second, other])
        for (const { secrets } of await formsOf(someone, path))
          for (const [name, value] of Object.entries(secrets))
            elsewhere.set(name, (elsewhere.get(name) ?? new Set()).add(value))
    }
    const kinds = new Map<string, Found & { readonly field: string }>()
    for (const found of own)
      for (const field of Object.keys(found.secrets)) {
        const action = found.form.action.replaceAll(/\/(?:[A-Za-z0-9]{30}|\d+)(?=\/)/g, '/:id')
        const names = Object.keys(found.form.fields).sort()
        const kind = `${field} in ${action} ${names} of ${found.who === person ? 'the person' : 'another'}`
        if (!kinds.has(kind)) kinds.set(kind, { ...found, field })
      }
    const fields = new Set([...kinds.values()].map(({ field }) => field))
    expect([...fields].sort()).toEqual(
      expect.arrayContaining(['authorization_request', 'csrf_token', 'found', 'token']),
    )
    const accepted: string[] = []
    for (const [kind, { who, form, field, secrets }] of kinds) {
      const mine = secrets[field] ?? ''
      const foreign = [...(field in everywhere ? [] : (elsewhere.get(field) ?? []))]
        .filter((value) => value !== mine)
        .slice(-3)
      const others = [...fields].flatMap((name) => {
        const value = own.find((each) => name !== field && each.secrets[name])?.secrets[name]
        return value === undefined || value === mine ? [] : [value]
      })
      for (const value of [...foreign, ...others]) {
        const before = await events()
        const sent = { ...form.fields, [field]: value, confirm: 'yes' }
        const response = await who.rawRequest(form.action, { method: 'POST', body: body(sent) })
        const isRefused = response.status >= 400 || (await events()) === before
        if (!isRefused) accepted.push(`${kind}: ${response.status} ${response.location}`)
      }
    }
    expect(accepted).toEqual([])
    expect(kinds.size).toBeGreaterThan(30)
    // The same requests with their own values have an effect.
    const before = await events()
    const statuses = new Set<number>()
    for (const { who, form, field } of kinds.values())
      if (field !== 'csrf_token') {
        const sent = body({
          ...form.fields,
          confirm: 'yes',
          act: 'end',
          new_password: app.password,
        })
        statuses.add((await who.rawRequest(form.action, { method: 'POST', body: sent })).status)
      }
    expect([...statuses]).toContain(303)
    expect(await events()).toBeGreaterThan(before)
  })

  test('is refused by a browser without a session, and after its time [T4255]', async () => {
    await using world = await newWorld()
    const events = () => eventsOf(world)
    const { app, person } = world
    const paths = world.pages.filter(({ who }) => who === person).map(({ path }) => path)
    const found = (await Promise.all(paths.map((path) => formsOf(person, path)))).flat()
    const send = async (who: Person, { form }: Found) => {
      const before = await events()
      const sent = body({ ...form.fields, confirm: 'yes', act: 'end' })
      const { status, location } = await who.rawRequest(form.action, { method: 'POST', body: sent })
      const isRefused =
        status >= 400 || /\/login\?/.test(location ?? '') || (await events()) === before
      return isRefused ? [] : [`${form.action} ${status} ${location}`]
    }
    const nobody = new Person(app, { ...person.session, agent: new UserAgent() }, person.user)
    const accepted: string[] = []
    for (const each of found) accepted.push(...(await send(nobody, each)))
    // A day and an hour later, the session has expired, and with it every value that belongs to it. A logout removes the
    // row of the expired session.
    app.advance(90_000)
    for (const each of found)
      if (each.form.action !== '/logout') accepted.push(...(await send(person, each)))
    expect(accepted).toEqual([])
    expect(found.length).toBeGreaterThan(30)
  })
})
