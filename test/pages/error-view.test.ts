import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shownText } from '../support/html.ts'
import { startServer, type TestServer } from '../support/server.ts'

let app: TestServer
beforeAll(async () => {
  app = await startServer()
})
afterAll(() => app.close())

const view = async (query: string | Record<string, string>) => {
  const response = await fetch(`${app.issuer}/oauth/errors?${new URLSearchParams(query)}`, {
    redirect: 'manual',
  })
  const html = await response.text()
  expect(response.status).toBe(400)
  expect(response.headers.get('location')).toBeNull()
  expect(response.headers.get('refresh')).toBeNull()
  expect(html).not.toMatch(/http-equiv/i)
  return { html, shown: shownText(html) }
}

const generalText =
  'The request of the application failed. This is most likely an error of the application, not yours.'

describe('decision §2 the error view', () => {
  test.each([
    ['invalid_request', 'The application sent an invalid request.'],
    ['access_denied', 'The permission was refused.'],
    ['server_error', 'Something went wrong on our side.'],
    ['temporarily_unavailable', 'The service is not available right now.'],
  ])('explains the error %s', async (error, explanation) => {
    const { shown } = await view({ error, error_description: 'redirect_uri is missing.' })
    expect(shown.join(' ')).toContain(explanation)
    expect(shown).not.toContain(generalText)
    expect(shown).toEqual(expect.arrayContaining([error, 'redirect_uri is missing.']))
  })

  test.each([
    'unknown_error',
    'INVALID_REQUEST',
    'invalid_request ',
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '0',
    '😀',
  ])('shows a general text and the error code for the unknown error "%s"', async (error) => {
    const { shown } = await view({ error })
    expect(shown).toContain(generalText)
    expect(shown).toContain(error.trim())
  })

  test('shows only a general text without an error code and a description', async () => {
    for (const query of [
      '',
      'error=',
      'error_description=',
      'other=x',
      'error',
      '&&&',
      '=x',
      '%',
      'error[]=x',
    ]) {
      const { html, shown } = await view(query)
      expect(shown).toContain(generalText)
      expect(html).not.toMatch(/<dt>|<dd>/)
    }
  })

  test('shows the first value of a repeated parameter', async () => {
    const { shown } = await view(
      'error=first&error=second&error_description=one&error_description=two',
    )
    expect(shown).toEqual(expect.arrayContaining(['first', 'one']))
    expect(shown.join(' ')).not.toMatch(/second|two/)
  })

  test('truncates long values, and accepts control characters and invalid encodings', async () => {
    const { html } = await view({ error: 'e'.repeat(3_000), error_description: 'd'.repeat(3_000) })
    expect(html.length).toBeLessThan(3_000)
    for (const error of ['\u0000', '\u202E\u2066', '\r\n', '😀'.repeat(60), '\uFFFD', '%ff']) {
      const { html: page } = await view({ error, error_description: error })
      expect(page).toContain('</html>')
    }
    expect((await view('error=%ff%fe%00&error_description=%ED%A0%80')).html).toContain('</html>')
  })

  test('links only to the start page, and ignores URLs in the parameters', async () => {
    const query = {
      error: 'x',
      error_uri: 'https://evil.example',
      redirect_uri: 'https://evil.example',
      next: '//evil.example',
      state: 'evil',
    }
    const { html } = await view(query)
    const links = [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, address]) => address)
    expect(links).toEqual(['#main', '/', '/'])
    expect(html).not.toContain('evil')
  })
})

describe('the setting OAUTH2_PROVIDER_ERROR_ENDPOINT', () => {
  const errorLocation = async ({ issuer }: Pick<TestServer, 'issuer'>) => {
    const response = await fetch(`${issuer}/oauth/authorize?client_id=unknown`, {
      redirect: 'manual',
    })
    expect(response.status).toBe(303)
    return response.headers.get('location')
  }
  const query = 'error=invalid_request&error_description=The%20client%20is%20unknown.'

  test.each<[string, object, string]>([
    [
      'the name of the built-in view',
      { errorEndpoint: 'svc_oauth2server.errors' },
      `/oauth/errors?${query}`,
    ],
    [
      'the name of the built-in view, with a configured oauthPrefix',
      { oauthPrefix: '/o', errorEndpoint: 'svc_oauth2server.errors' },
      `/o/errors?${query}`,
    ],
    ['a path', { errorEndpoint: '/help/errors' }, `/help/errors?${query}`],
    ['a path with a query', { errorEndpoint: '/help?topic=errors' }, `/help?topic=errors&${query}`],
    [
      'the path of a name in options.views',
      { errorEndpoint: 'my.errors', views: { 'my.errors': '/mine' } },
      `/mine?${query}`,
    ],
  ])('redirects errors to %s [T767]', async (_, options, expected) => {
    await using own = await startServer(options)
    const { oauthPrefix } = own.server.settings
    const response = await fetch(`${own.issuer}${oauthPrefix}/authorize?client_id=unknown`, {
      redirect: 'manual',
    })
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe(expected)
  })

  test('redirects errors to the built-in view by default [T766]', async () => {
    const location = await errorLocation(app)
    expect(location).toBe(`/oauth/errors?${query}`)
    const page = await fetch(`${app.issuer}${location}`)
    expect(shownText(await page.text())).toContain('The client is unknown.')
  })

  test.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'unknown.view',
    'constructor',
    '__proto__',
    '',
    ' /x',
    '/x y',
    'javascript:alert(1)',
  ])('rejects "%s" at start-up [T784]', async (errorEndpoint) => {
    await expect(startServer({ errorEndpoint })).rejects.toThrow('OAUTH2_PROVIDER_ERROR_ENDPOINT')
  })

  test.each(['https://evil.example', '//evil.example', '/\\evil.example', 'x'])(
    'rejects the path "%s" in options.views at start-up',
    async (path) => {
      const start = startServer({ errorEndpoint: 'mine', views: { mine: path } })
      await expect(start).rejects.toThrow('OAUTH2_PROVIDER_ERROR_ENDPOINT')
    },
  )
})
