import { describe, expect, test } from 'vitest'
import { form, type World } from './world.ts'

/** Defines tests of forms, whose body either a body parser of the application or the server itself reads. */
export const describeForms = (world: () => World): void => {
  describe('a form at the token endpoint', () => {
    const grant = 'grant_type=client_credentials'
    const refusal = async (response: Promise<{ status: number; text: string }>) => {
      const { status, text } = await response
      return `${status} ${JSON.parse(text).error}`
    }

    test.each([
      `${grant}&${grant}`,
      `${grant}&scope=notes%3Aread&scope=notes%3Aread`,
      `${grant}&scope=notes%3Aread&scope=notes%3Awrite`,
    ])('returns 400 invalid_request for a repeated parameter: %s', async (body) => {
      expect(await refusal(world().token(body))).toBe('400 invalid_request')
    })
    test.each(['grant_type[]=client_credentials', 'grant_type[a]=client_credentials', 'x=1', ''])(
      'returns 400 invalid_request for a form without the parameter grant_type: "%s"',
      async (body) => expect(await refusal(world().token(body))).toBe('400 invalid_request'),
    )
    test('ignores parameters in the query', async () => {
      expect(await refusal(world().token('x=1', { query: `?${grant}` }))).toBe(
        '400 invalid_request',
      )
    })
    test('accepts a repeated unknown parameter', async () => {
      expect((await world().token(`${grant}&foo=1&foo=2&bar[]=3`)).status).toBe(200)
    })
    test.each([
      ['a JSON body', ['Content-Type: application/json'], '{"grant_type":"client_credentials"}'],
      ['the content type text/plain', ['Content-Type: text/plain'], grant],
      ['a missing content type', [], grant],
      ['a content type with a similar name', [`${form}X`], grant],
      ['two Content-Type headers', [form, 'Content-Type: application/json'], grant],
    ])('returns 400 invalid_request for %s', async (_, headers, body) => {
      expect(await refusal(world().token(body, { headers }))).toBe('400 invalid_request')
    })
    test('rejects the charset utf-16', async () => {
      // A body parser of the application may reject the request with 415 before the server receives it.
      const { status } = await world().token(grant, { headers: [`${form}; charset=utf-16`] })
      expect([400, 415]).toContain(status)
    })
    test('accepts the content type in any case and with the charset UTF-8', async () => {
      const headers = ['content-type: APPLICATION/X-www-form-urlencoded;charset=UTF-8']
      expect((await world().token(grant, { headers })).status).toBe(200)
    })
    test('returns 413 for a body of more than 64 KiB', async () => {
      expect((await world().token(`${grant}&x=${'a'.repeat(70_000)}`)).status).toBe(413)
    })
  })

  test('redirects an authorization request with a repeated parameter to the error view, not to the client', async () => {
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

  test('rejects forbidden characters in a query at the REST application, but not at pages', async () => {
    const { body, status } = await world().ask('/api/public', { query: '?a=%zz' })
    expect([status, body]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })])
    for (const query of ['?a=^', '?a=[b]', '?a={', '?a=%4'])
      expect((await world().ask('/api/public', { query })).status).toBe(400)
    expect((await world().ask('/api/public', { query: '?a=%41&b=c;d' })).status).toBe(200)
    expect((await world().send(world().path('/'), { query: '?a=^' })).status).toBe(200)
  })
}
