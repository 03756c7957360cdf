import { describe, expect, test, vi } from 'vitest'
import type { SealedAuditEvent } from '../../src/model/audit-event.ts'
import { auditValues } from '../../src/model/entities/audit-event.ts'
import type { UserId } from '../../src/model/user.ts'
import type { AuditFilter } from '../../src/store/contract/audit.ts'
import type { Cursor, Page } from '../../src/store/contract/page.ts'
import type { Store } from '../../src/store/store.ts'
import { allPages, brokenCursors } from './pages.ts'
import {
  aClient,
  anAuthorization,
  aPair,
  aUser,
  auditRow,
  consentRow,
  digest,
  sessionRow,
  text,
  tokenRow,
} from './rows.ts'

/** Times of list items. Some are equal, so that the order must also depend on the ID. */
const times = [5, 3, 9, 5, 5, 1, 9, 5, 2, 5, 3]

/** The tests that every list of a store must pass. `other` is the store of another node with the same data. */
export const listsContract = (
  open: () => { readonly store: Store; readonly other: Store },
): void => {
  describe('lists', () => {
    const clientId = ({ fields }: { readonly fields: { readonly clientId: string } }) =>
      fields.clientId
    const id = ({ fields }: { readonly fields: { readonly id: number } }) => fields.id
    const summaryOf = ({ clientId }: { readonly clientId: string }) => clientId
    const summaryId = (summary: { readonly id: number }) => summary.id
    const latestFirst = (made: readonly (readonly [at: number, id: string])[]) =>
      made.toSorted(([at, a], [other, b]) => other - at || (a < b ? 1 : -1)).map(([, name]) => name)

    /**
     * For each list: inserts items for a new user, and returns the function that reads the list and the expected items.
     */
    const lists: Record<
      string,
      () => Promise<{
        read: (cursor: Cursor) => Promise<Page<unknown>>
        nameOf: (item: never) => unknown
        expected: readonly unknown[]
      }>
    > = {
      'clients.list owned': async () => {
        const { store, other } = open()
        const [userId, another] = [await aUser(store), await aUser(store)]
        const made = await inTurn(times, async (createdAt) => {
          await aClient(store, { userId: another, createdAt })
          await aClient(store, { userId, createdAt, isPersonal: true })
          return [createdAt, await aClient(store, { userId, createdAt })] as const
        })
        const read = (cursor: Cursor) => other.clients.list('owned', { userId }, cursor)
        return { read, nameOf: clientId, expected: latestFirst(made) }
      },
      'clients.summaries owned': async () => {
        const { store, other } = open()
        const [userId, another] = [await aUser(store), await aUser(store)]
        const made = await inTurn(times, async (createdAt) => {
          await aClient(store, { userId: another, createdAt })
          await aClient(store, { userId, createdAt, isPersonal: true })
          return [createdAt, await aClient(store, { userId, createdAt })] as const
        })
        const read = (cursor: Cursor) => other.clients.summaries('owned', { userId }, cursor)
        return { read, nameOf: summaryOf, expected: latestFirst(made) }
      },
      'clients.list matching': async () => {
        const { store, other } = open()
        const name = text()
        const made = await inTurn(times, async (createdAt) => {
          await aClient(store, { name: text(), createdAt })
          await aClient(store, { name, createdAt, isPersonal: true })
          return [createdAt, await aClient(store, { name, createdAt })] as const
        })
        const read = (cursor: Cursor) => other.clients.list('matching', { text: name }, cursor)
        return { read, nameOf: clientId, expected: latestFirst(made) }
      },
      'clients.list matching, if the IDs are URLs': async () => {
        const { store, other } = open()
        const name = text()
        const made = await inTurn(times, async (createdAt) => {
          const clientId = `https://client.example/${text()}.json?a='b'`
          return [createdAt, await aClient(store, { clientId, name, createdAt })] as const
        })
        const read = (cursor: Cursor) => other.clients.list('matching', { text: name }, cursor)
        return { read, nameOf: clientId, expected: latestFirst(made) }
      },
      'clients.summaries matching': async () => {
        const { store, other } = open()
        const name = text()
        const made = await inTurn(times, async (createdAt) => {
          await aClient(store, { name: text(), createdAt })
          await aClient(store, { name, createdAt, isPersonal: true })
          return [createdAt, await aClient(store, { name, createdAt })] as const
        })
        const read = (cursor: Cursor) => other.clients.summaries('matching', { text: name }, cursor)
        return { read, nameOf: summaryOf, expected: latestFirst(made) }
      },
      'clients.list authorized': async () => {
        const { store, other } = open()
        const [userId, another] = [await aUser(store), await aUser(store)]
        const made = await inTurn(times, async (createdAt, index) => {
          const authorized = await aClient(store, { createdAt })
          await store.consents.put(
            consentRow({ userId: another, clientId: await aClient(store, { createdAt }) }),
          )
          // The user authorizes clients by a consent, by an authorization, or by both. Each client is listed once.
          if (index % 3 !== 0)
            await store.consents.put(consentRow({ userId, clientId: authorized }))
          if (index % 3 !== 1) await anAuthorization(store, { userId, clientId: authorized })
          if (index % 3 !== 1) await anAuthorization(store, { userId, clientId: authorized })
          return [createdAt, authorized] as const
        })
        const read = (cursor: Cursor) =>
          other.clients.list('authorized', { userId, now: 10 }, cursor)
        return { read, nameOf: clientId, expected: latestFirst(made) }
      },
      'clients.summaries authorized': async () => {
        const { store, other } = open()
        const [userId, another] = [await aUser(store), await aUser(store)]
        const made = await inTurn(times, async (createdAt, index) => {
          const authorized = await aClient(store, { createdAt })
          await store.consents.put(
            consentRow({ userId: another, clientId: await aClient(store, { createdAt }) }),
          )
          // The user authorizes clients by a consent, by an authorization, or by both. Each client is listed once.
          if (index % 3 !== 0)
            await store.consents.put(consentRow({ userId, clientId: authorized }))
          if (index % 3 !== 1) await anAuthorization(store, { userId, clientId: authorized })
          if (index % 3 !== 1) await anAuthorization(store, { userId, clientId: authorized })
          return [createdAt, authorized] as const
        })
        const read = (cursor: Cursor) =>
          other.clients.summaries('authorized', { userId, now: 10 }, cursor)
        return { read, nameOf: summaryOf, expected: latestFirst(made) }
      },
      'tokens.list personal': async () => {
        const { store, other } = open()
        const userId = await aUser(store)
        const made = await inTurn(times, async (createdAt) => {
          const one = await personalToken(store, userId, { createdAt })
          await personalToken(store, userId, { createdAt, isInternal: true })
          await personalToken(store, await aUser(store), { createdAt })
          await store.tokens.insert(tokenRow({ ...one.fields, isPersonal: false }))
          await former(store, one, { createdAt })
          return one.id
        })
        const read = (cursor: Cursor) => other.tokens.list('personal', { userId, now: 10 }, cursor)
        return { read, nameOf: id, expected: made.toReversed() }
      },
      'tokens.summaries personal': async () => {
        const { store, other } = open()
        const userId = await aUser(store)
        const made = await inTurn(times, async (createdAt) => {
          const one = await personalToken(store, userId, { createdAt })
          await personalToken(store, userId, { createdAt, isInternal: true })
          await personalToken(store, await aUser(store), { createdAt })
          await store.tokens.insert(tokenRow({ ...one.fields, isPersonal: false }))
          await former(store, one, { createdAt })
          return one.id
        })
        const read = (cursor: Cursor) =>
          other.tokens.summaries('personal', { userId, now: 10 }, cursor)
        return { read, nameOf: summaryId, expected: made.toReversed() }
      },
      'tokens.list matching': async () => {
        const { store, other } = open()
        const client = await aClient(store)
        const userId = await aUser(store)
        const made = await inTurn(times, async (createdAt) => {
          const row = tokenRow({ clientId: client, userId, createdAt, isPersonal: true })
          const one = Number(await store.tokens.insert(row))
          await former(store, { id: one, fields: row.fields }, { createdAt })
          await personalToken(store, userId)
          return one
        })
        const read = (cursor: Cursor) => other.tokens.list('matching', { text: client }, cursor)
        return { read, nameOf: id, expected: made.toReversed() }
      },
      'tokens.summaries matching': async () => {
        const { store, other } = open()
        const client = await aClient(store)
        const userId = await aUser(store)
        const made = await inTurn(times, async (createdAt) => {
          const row = tokenRow({ clientId: client, userId, createdAt, isPersonal: true })
          const one = Number(await store.tokens.insert(row))
          await store.tokens.insert(tokenRow({ clientId: client, userId, createdAt }))
          await former(store, { id: one, fields: row.fields }, { createdAt })
          await personalToken(store, userId)
          return one
        })
        const search = { text: client, isPersonal: true }
        const read = (cursor: Cursor) => other.tokens.summaries('matching', search, cursor)
        return { read, nameOf: summaryId, expected: made.toReversed() }
      },
      'sessions.list ofUser': async () => {
        const { store, other } = open()
        const [userId, another] = [await aUser(store), await aUser(store)]
        const made = await inTurn(times, async (createdAt) => {
          await store.sessions.insert(sessionRow({ userId: another, createdAt }))
          const row = sessionRow({ userId, createdAt, id: digest('session') })
          await store.sessions.insert(row)
          return [createdAt, row.id] as const
        })
        const read = (cursor: Cursor) => other.sessions.list('ofUser', { userId }, cursor)
        const nameOf = (session: { readonly id: string }) => session.id
        return { read, nameOf, expected: latestFirst(made) }
      },
    }

    describe.each(Object.keys(lists))('%s', (name) => {
      const filled = async () => {
        const { read, nameOf, expected } = (await lists[name]?.()) ?? expect.unreachable()
        const names = (items: readonly unknown[]) => items.map((item) => nameOf(item as never))
        return { read, names, expected }
      }

      test('is sorted newest first with a stable order of equal times, and pages of any size contain each item once', async () => {
        const { read, names, expected } = await filled()
        expect(expected).toHaveLength(times.length)
        for (const limit of [1, 2, 3, times.length - 1, times.length, times.length + 1, 500])
          expect(names(await allPages(read, limit)), `${limit}`).toEqual(expected)
      })

      test('marks the last page, even if it is full', async () => {
        const { read } = await filled()
        const whole = await read({ after: null, limit: times.length })
        expect(whole.next).toBeNull()
        const most = await read({ after: null, limit: times.length - 1 })
        expect(most.next).toEqual(expect.any(String))
        const last = await read({ after: most.next, limit: times.length })
        expect([last.items.length, last.next]).toEqual([1, null])
      })

      test('starts at the beginning with an unknown cursor', async () => {
        const { read, names, expected } = await filled()
        for (const after of brokenCursors) {
          const found = await read({ after, limit: 2 })
          expect(names(found.items), JSON.stringify(after.slice(0, 40))).toEqual(
            expected.slice(0, 2),
          )
        }
        // The cursor is later than every item, so the list starts at the first item.
        const latest = await read({ after: `999999999999999.${'z'.repeat(255)}`, limit: 2 })
        expect(names(latest.items)).toEqual(expected.slice(0, 2))
      })

      test('returns a suffix of this list for a cursor of another list, and no item twice', async () => {
        const { read, names, expected } = await filled()
        for (const [theirs, fill] of Object.entries(lists)) {
          const another = await fill()
          const { next } = await another.read({ after: null, limit: 4 })
          const found = names((await read({ after: next, limit: 500 })).items)
          expect(found, theirs).toEqual(expected.slice(expected.length - found.length))
        }
      })

      test('a new item does not shift the following pages', async () => {
        const { read, names, expected } = await filled()
        const first = await read({ after: null, limit: 4 })
        await lists[name]?.()
        const rest = await read({ after: first.next, limit: 500 })
        expect(names([...first.items, ...rest.items])).toEqual(expected)
      })
    })

    test('returns one page for an empty list', async () => {
      const { store } = open()
      const userId = await aUser(store)
      const empty = { items: [], next: null }
      const cursor = { after: null, limit: 5 }
      expect(await store.clients.list('owned', { userId }, cursor)).toEqual(empty)
      expect(await store.clients.list('matching', { text: text() }, cursor)).toEqual(empty)
      expect(await store.clients.list('authorized', { userId, now: 0 }, cursor)).toEqual(empty)
      expect(await store.tokens.list('personal', { userId, now: 0 }, cursor)).toEqual(empty)
      expect(await store.tokens.list('matching', { text: text() }, cursor)).toEqual(empty)
      expect(await store.sessions.list('ofUser', { userId }, cursor)).toEqual(empty)
      expect(await store.clients.countTokens([], 10)).toEqual(new Map())
      expect(await store.consents.select({ userId, clientId: [] })).toEqual([])
      expect(await store.tokens.authorizedOf(userId, [], 0, { limit: 5, countLimit: 10 })).toEqual(
        [],
      )
    })

    test('lists every application and every token once without a search text', async () => {
      const { store, other } = open()
      const [older, newer] = [
        await aClient(store, { createdAt: 70 }),
        await aClient(store, { createdAt: 71 }),
      ]
      const behind = await personalToken(store, await aUser(store))
      const ended = await former(store, behind)
      const clients = (
        await allPages((cursor) => other.clients.list('matching', { text: '' }, cursor), 50)
      ).map(clientId)
      expect(new Set(clients).size).toBe(clients.length)
      expect(clients.indexOf(newer)).toBe(clients.indexOf(older) - 1)
      expect(clients).not.toContain(behind.fields.clientId)
      const tokens = (
        await allPages((cursor) => other.tokens.list('matching', { text: '' }, cursor), 50)
      ).map(id)
      expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => b - a))
      expect(tokens).toContain(behind.id)
      expect(tokens).not.toContain(ended)
    })

    test('the summaries contain what administrators sort and filter by [T3009]', async () => {
      const { store, other } = open()
      const email = `${text()}@example.org`
      const userId = await aUser(store, { email })
      const [name, first] = [text(), { after: null, limit: 9 }]
      const unused = await aClient(store, { name, createdAt: 7, isVerified: true })
      const used = await aClient(store, {
        name,
        createdAt: 8,
        isConfidential: false,
        isDisabled: true,
        origin: 'registration',
      })
      const { id, row } = await aPair(store, used, { userId })
      await store.tokens.touch(new Map([[id, { at: 5, address: '::1' }]]))
      expect((await other.clients.summaries('matching', { text: name }, first)).items).toEqual([
        {
          clientId: used,
          name,
          isConfidential: false,
          isVerified: false,
          isDisabled: true,
          createdAt: 8,
          origin: 'registration',
          isUsed: true,
        },
        {
          clientId: unused,
          name,
          isConfidential: true,
          isVerified: true,
          isDisabled: false,
          createdAt: 7,
          origin: 'owner',
          isUsed: false,
        },
      ])
      const mine = { text: email, isPersonal: false }
      const { scopes, createdAt, expires } = row.fields
      const pair = {
        id,
        clientId: used,
        clientName: name,
        isPersonal: false,
        isRefreshable: true,
        userId,
        userEmail: email,
        scopes,
        createdAt,
        expires,
        lastUsedAt: 5,
      }
      expect((await other.tokens.summaries('matching', mine, first)).items).toEqual([pair])
      const personal = await personalToken(store, userId)
      expect((await other.tokens.summaries('matching', mine, first)).items).toEqual([
        expect.objectContaining({
          id: personal.id,
          isPersonal: true,
          isRefreshable: false,
          lastUsedAt: null,
        }),
        pair,
      ])
      const found = await other.tokens.summaries('matching', { ...mine, isPersonal: true }, first)
      expect(found.items.map(summaryId)).toEqual([personal.id])
    })

    describe('clients.list matching', () => {
      const found = async (searched: string) =>
        (
          await allPages(
            (cursor) => open().other.clients.list('matching', { text: searched }, cursor),
            100,
          )
        ).map(clientId)

      test('finds clients by a part of the name, of the ID or of the owner’s e-mail address, and by no other field', async () => {
        const { store } = open()
        const [email, word] = [`${text()}@example.org`, text()]
        const userId = await aUser(store, { email })
        const one = await aClient(store, {
          userId,
          name: `My ${word} notes`,
          description: `d${word}`,
          website: `https://w${word}.example`,
        })
        const without = await aClient(store, { name: 'Another' })
        expect(await found(word)).toEqual([one])
        expect(await found(` ${word} `)).toEqual([one])
        expect(await found(`y ${word} n`)).toEqual([one])
        expect(await found(one)).toEqual([one])
        expect(await found(one.slice(3, 20))).toEqual([one])
        expect(await found(email)).toEqual([one])
        expect(await found(email.slice(4, -4))).toEqual([one])
        expect(await found(`d${word}`)).toEqual([])
        expect(await found(`w${word}`)).toEqual([])
        expect(await found(without)).toEqual([without])
      })

      test('treats %, _ and \\ as ordinary characters', async () => {
        const { store } = open()
        const word = text()
        const named = new Map<string, string>()
        for (const name of ['100%', '100x', 'a_b', 'axb', 'a\\b', 'a\\\\b', "a'b", 'a"b', 'a%_\\b'])
          named.set(name, await aClient(store, { name: `${word}${name}` }))
        for (const [name, one] of named) expect(await found(word + name), name).toEqual([one])
        expect(await found(`${word}%`)).toEqual([])
        expect(await found(`%${word}`)).toEqual([])
        expect(await found(`${word}_`)).toEqual([])
        expect(await found(`${word}\\`)).toEqual([])
        expect(await found(`${word}a%b`)).toEqual([])
        expect(new Set(await found(`${word}a\\`))).toEqual(
          new Set([named.get('a\\b'), named.get('a\\\\b')]),
        )
      })

      test('ignores the case of ASCII letters, and matches other letters exactly', async () => {
        const { store } = open()
        const word = text()
        for (const [name, searches] of [
          ['Notes', ['notes', 'NOTES', 'oTE']],
          ['Größe', ['größe', 'GRöß', 'gRö']],
          ['Äpfel', ['Äpfel', 'ÄPFEL', 'Äp']],
          ['Źródło', ['Źródło', 'ŹRóDłO']],
          ['日本語', ['日本語', '本']],
          ['A😀b', ['a😀B']],
        ] as const) {
          const one = await aClient(store, { name: `${name} ${word}` })
          for (const searched of searches)
            expect(await found(`${searched}`), searched).toContain(one)
          expect(await found(one.toUpperCase()), name).toEqual([one])
        }
        const email = `${text()}@example.org`
        const owned = await aClient(store, { userId: await aUser(store, { email }) })
        expect(await found(email.toUpperCase())).toEqual([owned])
        expect(await found(`apfel ${word}`), 'umlauts are separate letters').toEqual([])
      })

      test('accepts any search text', async () => {
        for (const searched of [
          "'",
          '"',
          "' or 1=1 --",
          '\u0000',
          '\ud800',
          '%'.repeat(5_000),
          'x'.repeat(10_000),
          '(?:',
        ])
          expect(await found(`${text()}${searched}`), searched.slice(0, 20)).toEqual([])
      })
    })

    describe('tokens.list matching', () => {
      const found = async (searched: string) =>
        (
          await allPages(
            (cursor) => open().other.tokens.list('matching', { text: searched }, cursor),
            100,
          )
        ).map(id)

      test('finds tokens by the whole ID of the token, ID of the client or e-mail address of the user', async () => {
        const { store } = open()
        const email = `${text()}@example.org`
        const userId = await aUser(store, { email })
        const client = await aClient(store, { name: 'Named' })
        const one = Number(await store.tokens.insert(tokenRow({ clientId: client, userId })))
        const two = Number(await store.tokens.insert(tokenRow({ clientId: client })))
        const personal = await personalToken(store, userId, { name: 'Laptop' })
        expect(await found(String(one))).toEqual([one])
        expect(await found(client)).toEqual([two, one])
        expect(await found(email)).toEqual([personal.id, one])
        expect(await found(email.toUpperCase())).toEqual([personal.id, one])
        expect(await found(email.slice(1))).toEqual([])
        expect(await found(client.slice(1))).toEqual([])
        expect(await found(`${'9'.repeat(15)}`)).toEqual([])
        expect(await found(`${'9'.repeat(400)}`)).toEqual([])
        expect(await found('%@%')).toEqual([])
        expect(await found("' or 1=1 --")).toEqual([])
        const [row] = (
          await store.tokens.list(
            'matching',
            { text: String(personal.id) },
            { after: null, limit: 5 },
          )
        ).items
        expect(row).toMatchObject({ clientName: 'Laptop', userEmail: email, lastUse: null })
        const [ownerless] = (
          await store.tokens.list('matching', { text: String(two) }, { after: null, limit: 5 })
        ).items
        expect(ownerless).toMatchObject({ clientName: 'Named', userEmail: null })
      })
    })

    test('countTokensOf() returns the same counts for several clients as countTokens() for each client', async () => {
      const { store, other } = open()
      const [none, one, two] = [await aClient(store), await aClient(store), await aClient(store)]
      for (const clientId of [one, two, two]) await store.tokens.insert(tokenRow({ clientId }))
      await store.tokens.insert(tokenRow({ clientId: none, isPersonal: true }))
      await store.tokens.insert(tokenRow({ clientId: two, isInternal: true }))
      expect(await other.clients.countTokens([none, one, two, 'nope', two], 10)).toEqual(
        new Map([
          [none, 0],
          [one, 1],
          [two, 2],
        ]),
      )
      expect(await other.clients.countTokens([two], 1)).toEqual(new Map([[two, 1]]))
    })

    describe('clients.list authorized', () => {
      test('lists clients with an active authorization or a consent, without clients of personal tokens', async () => {
        const { store, other } = open()
        const userId = await aUser(store)
        const listed = async (now: number) =>
          (await allPages((cursor) => other.clients.list('authorized', { userId, now }, cursor), 2))
            .map(clientId)
            .toSorted()
        const [living, revoked, consented, behind] = [
          await aClient(store),
          await aClient(store),
          await aClient(store),
          await aClient(store, { isPersonal: true }),
        ]
        await anAuthorization(store, { clientId: living, userId, expiresAt: 20 })
        const ended = await anAuthorization(store, { clientId: revoked, userId, expiresAt: 20 })
        await anAuthorization(store, { clientId: behind, userId, expiresAt: 20 })
        await store.consents.put(consentRow({ userId, clientId: consented }))
        await store.consents.put(consentRow({ userId, clientId: behind }))
        expect(await listed(19)).toEqual([living, revoked, consented].toSorted())
        await store.authorizations.revoke(ended, 5)
        expect(await listed(19)).toEqual([living, consented].toSorted())
        expect(await listed(20)).toEqual([consented])
        await store.consents.delete(userId, consented)
        expect(await listed(20)).toEqual([])
      })
    })

    describe('the audit log', () => {
      const whole = { after: null, limit: 100 }
      const kept = ({ seal: _, ...event }: SealedAuditEvent) => ({
        ...event,
        id: expect.any(Number),
        actorId: event.actorId === null ? null : String(event.actorId),
        userId: event.userId === null ? null : String(event.userId),
      })

      test('returns the recorded events with all fields, latest first', async () => {
        const { store, other } = open()
        const clientId = text()
        const details = { scopes: ['a', 'b'], grant: 'implicit' }
        const one = auditRow({ clientId, at: 9, event: 'token.issued', details })
        const blank = {
          actorId: null,
          userId: null,
          userEmail: null,
          tokenId: null,
          authorizationId: null,
          requestId: null,
        }
        const two = auditRow({ clientId, at: 11, isRoutine: true, ...blank })
        await store.audit.add(one)
        await store.audit.addMany([two, { ...one, at: 10 }])
        const { items, next } = await other.audit.list('latest', { clientId }, whole)
        expect(items).toEqual([kept(two), kept({ ...one, at: 10 }), kept(one)])
        expect(next).toBeNull()
        expect((await other.audit.list('earliest', { clientId }, whole)).items).toEqual(
          items.toReversed(),
        )
      })

      test('auditCounts lists sums over all processes in pages, and replaces totals [T1708]', async () => {
        const { store, other } = open()
        const [clientId, event] = [text(), 'token.issued']
        const row = (at: number, userId: string | null, writer: number, count: number) => {
          return { at, event, grantType: 'g', clientId, userId, writer, count }
        }
        const second = Array.from({ length: 7 }, (_, user) => row(20, `u${user}`, 1, user + 1))
        await store.auditCounts.put([row(10, null, 1, 5), row(10, null, 2, 7), ...second])
        await store.auditCounts.put([row(10, null, 1, 6)])
        const all = await allPages((cursor) => other.auditCounts.list({ clientId }, cursor), 3)
        const sum = (at: number, userId: string | null, count: number) => {
          return { at, event, grantType: 'g', clientId, userId, count }
        }
        expect(all).toEqual([
          sum(10, null, 13),
          ...second.map(({ userId, count }) => sum(20, userId, count)),
        ])
        const total = { event, grantType: 'g', clientId }
        const totals = (filter: object) => other.auditCounts.totals({ clientId, ...filter }, 5)
        expect(await totals({})).toEqual([{ ...total, count: 41 }])
        expect(await totals({ since: 20, userId: 'u3' })).toEqual([{ ...total, count: 4 }])
        expect(await store.auditCounts.deleteExpired(19, 1)).toBe(1)
        expect(await store.auditCounts.deleteExpired(19, 5)).toBe(1)
        expect(await store.auditCounts.deleteExpired(19, 5)).toBe(0)
        expect(await other.auditCounts.list({ clientId, until: 20 }, whole)).toMatchObject({
          items: [],
        })
      })

      test.each(['', '7', 'null', '{}', '[1]', '["a","b","c","d","e"]'])(
        'auditCounts.list starts again with the invalid cursor %j [T4117]',
        async (after) => {
          const { store, other } = open()
          const clientId = text()
          const counted = { at: 10, event: 'token.issued', grantType: 'g', clientId, userId: null }
          await store.auditCounts.put([{ ...counted, writer: 1, count: 1 }])
          const { items } = await other.auditCounts.list({ clientId }, { after, limit: 5 })
          expect(items).toEqual([{ ...counted, count: 1 }])
        },
      )

      test('addMany() writes all events or none', async () => {
        const { store, other } = open()
        const clientId = text()
        const many = Array.from({ length: 1_201 }, (_, at) => auditRow({ clientId, at }))
        await store.audit.addMany(many)
        const all = await allPages(
          (cursor) => other.audit.list('latest', { clientId }, cursor),
          400,
        )
        expect(all.map(({ at }) => at)).toEqual(many.map(({ at }) => at).toReversed())
        const bad = { ...auditRow({ clientId }), event: null as never }
        await expect(store.audit.addMany([...many, bad])).rejects.toThrow()
        await expect(
          store.transaction(async (tx) => {
            await tx.audit.add(auditRow({ clientId }))
            await tx.audit.addMany(many)
            throw new Error('the act fails')
          }),
        ).rejects.toThrow('the act fails')
        expect(
          (await other.audit.list('latest', { clientId }, { ...whole, limit: 9_999 })).items,
        ).toHaveLength(1_201)
      })

      test('returns pages in order, even if many events have the same time', async () => {
        const { store, other } = open()
        const userId = text()
        for (const at of [5, 5, 5, 6, 6, 7]) await store.audit.add(auditRow({ userId, at }))
        for (const limit of [1, 2, 4]) {
          const latest = await allPages(
            (cursor) => other.audit.list('latest', { userId }, cursor),
            limit,
          )
          const earliest = await allPages(
            (cursor) => other.audit.list('earliest', { userId }, cursor),
            limit,
          )
          expect(latest.map(({ at }) => at)).toEqual([7, 6, 6, 5, 5, 5])
          expect(earliest).toEqual(latest.toReversed())
        }
        const wrong = { after: '7.x-y', limit: 10 }
        expect((await other.audit.list('latest', { userId }, wrong)).items).toHaveLength(6)
      })

      test('finds exactly the matching events', async () => {
        const { store, other } = open()
        const [userId, clientId] = [text(), text()]
        await store.audit.add(auditRow({ userId, clientId, at: 1 }))
        await store.audit.add(
          auditRow({ userId, at: 2, event: 'login.failed', details: { count: 1 } }),
        )
        await store.audit.add(auditRow({ clientId, at: 3, isRoutine: true }))
        await store.audit.add(auditRow({ userId, at: 4, isRoutine: true }))
        const found = async (filter: AuditFilter) =>
          (await other.audit.list('latest', filter, whole)).items.map(({ at }) => at)
        expect(await found({ userId })).toEqual([4, 2, 1])
        expect(await found({ userId, withoutRoutine: true })).toEqual([2, 1])
        expect(await found({ clientId })).toEqual([3, 1])
        expect(await found({ userId, event: 'login.failed' })).toEqual([2])
        expect(await found({ userId, since: 2 })).toEqual([4, 2])
        expect(await found({ userId, until: 2 })).toEqual([1])
        expect(await found({ userId: `${userId}x` })).toEqual([])
      })

      test('reads and deletes rows by their IDs, up to the limit', async () => {
        const { store, other } = open()
        const clientId = text()
        await store.audit.addMany([1, 2, 3].map((at) => auditRow({ clientId, at, seal: 's' })))
        const ids = (await other.audit.list('earliest', { clientId }, whole)).items.map(
          ({ id }) => id,
        )
        const [first = 0, second = 0, third = 0] = ids
        const rows = await other.audit.select(
          { id: { upTo: third } },
          { after: { id: first - 1 }, limit: 2 },
        )
        expect(rows.map(({ id, seal }) => [id, seal])).toEqual([
          [first, 's'],
          [second, 's'],
        ])
        expect(rows[0]?.values).toEqual(auditValues(auditRow({ clientId, at: 1 })))
        const after = { id: second }
        expect(await other.audit.select({ id: { upTo: second } }, { after })).toEqual([])
        const mark = await other.audit.mark({ after: 0, until: 2 ** 44 })
        expect(mark.id).toBeGreaterThanOrEqual(third)
        await vi.waitFor(async () => expect(await other.audit.isSettled(mark)).toBe(true))
        await store.audit.add(auditRow({ clientId, at: 2, seal: 's' }))
        const copy = (await other.audit.list('latest', { clientId }, whole)).items[1]?.id ?? 0
        expect(await other.audit.copies({ after: first - 1, until: copy })).toEqual([copy])
        while ((await store.audit.deleteExpired({ lastId: first }, 1)) > 0);
        expect((await other.audit.list('earliest', { clientId }, whole)).items).toHaveLength(3)
      })
    })
  })
}

const inTurn = async <T, R>(
  values: readonly T[],
  work: (value: T, index: number) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = []
  for (const [index, value] of values.entries()) results.push(await work(value, index))
  return results
}

const personalToken = async (
  store: Store,
  userId: UserId,
  {
    name = 'Personal',
    ...fields
  }: { name?: string; createdAt?: number; isInternal?: boolean } = {},
) => {
  const clientId = await aClient(store, { isPersonal: true, userId, name })
  const row = tokenRow({ clientId, userId, isPersonal: true, expires: null, ...fields })
  return { id: Number(await store.tokens.insert(row)), fields: row.fields }
}

/** A previous value of a personal token, which expires soon. */
const former = async (
  store: Store,
  { id, fields }: { readonly id: number; readonly fields: ReturnType<typeof tokenRow>['fields'] },
  over: Partial<typeof fields> = {},
) => Number(await store.tokens.insert(tokenRow({ ...fields, ...over }, { successorId: id })))
