import { describe, expect, test } from 'vitest'
import { form, type World } from './world.ts'

/** Parameters that arrive through the body parsers of an application, or without them. */
export const describeForms = (world: () => World): void => {
  describe('a form', () => {
    const grant = 'grant_type=client_credentials'
    const refusal = async (response: Promise<{ status: number; text: string }>) => {
      const { status, text } = await response
      return `${status} ${JSON.parse(text).error}`
    }

    test.each([
      `${grant}&${grant}`,
      `${grant}&scope=notes%3Aread&scope=notes%3Aread`,
      `${grant}&scope=notes%3Aread&scope=notes%3Awrite`,
    ])('with a repeated parameter, %s: returns 400 invalid_request', async (body) => {
      expect(await refusal(world().token(body))).toBe('400 invalid_request')
    })
    test.each(['grant_type[]=client_credentials', 'grant_type[a]=client_credentials', 'x=1', ''])(
      'without the parameter, %s: returns 400 invalid_request',
      async (body) => expect(await refusal(world().token(body))).toBe('400 invalid_request'),
    )
    test('never reads the query in place of the form', async () => {
      expect(await refusal(world().token('x=1', { query: `?${grant}` }))).toBe(
        '400 invalid_request',
      )
    })
    test('accepts a repeated unknown parameter', async () => {
      expect((await world().token(`${grant}&foo=1&foo=2&bar[]=3`)).status).toBe(200)
    })
    test.each([
      ['JSON', ['Content-Type: application/json'], '{"grant_type":"client_credentials"}'],
      ['text', ['Content-Type: text/plain'], grant],
      ['no type', [], grant],
      ['a type with a similar name', [`${form}X`], grant],
      ['two types', [form, 'Content-Type: application/json'], grant],
    ])('%s: returns 400 invalid_request', async (_, headers, body) => {
      expect(await refusal(world().token(body, { headers }))).toBe('400 invalid_request')
    })
    test('rejects another character set', async () => {
      // A body parser of the application may answer first, with a status of its own.
      const { status } = await world().token(grant, { headers: [`${form}; charset=utf-16`] })
      expect([400, 415]).toContain(status)
    })
    test('accepts other spellings of its type', async () => {
      const headers = ['content-type: APPLICATION/X-www-form-urlencoded;charset=UTF-8']
      expect((await world().token(grant, { headers })).status).toBe(200)
    })
    test('over 64 KiB: returns 413', async () => {
      expect((await world().token(`${grant}&x=${'a'.repeat(70_000)}`)).status).toBe(413)
    })
  })

  test('a repeated parameter of an authorization request leads to the error view, never to the client', async () => {
    const { agent } = world().session
    for (const name of ['client_id', 'redirect_uri', 'state']) {
      const url = world().authorizeUrl({ state: 'a' })
      const value = new URL(url).searchParams.get(name) ?? ''
      const response = await agent.fetch(`${url}&${name}=${encodeURIComponent(value)}`)
      expect(response.status).toBe(303)
      const view = new URL(response.headers.get('location') ?? '', url)
      expect(view.pathname).toBe(world().oauth('/errors'))
      expect(view.searchParams.get('error')).toBe('invalid_request')
      expect((await agent.fetch(view)).status).toBe(400)
    }
  })

  test('the REST application rejects characters that a query must not contain; pages do not', async () => {
    const { body, status } = await world().ask('/api/public', { query: '?a=%zz' })
    expect([status, body]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })])
    for (const query of ['?a=^', '?a=[b]', '?a={', '?a=%4'])
      expect((await world().ask('/api/public', { query })).status).toBe(400)
    expect((await world().ask('/api/public', { query: '?a=%41&b=c;d' })).status).toBe(200)
    expect((await world().send(world().path('/'), { query: '?a=^' })).status).toBe(200)
  })
}
