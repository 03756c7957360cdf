import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~'
/** The character set in the specification. */
const specified = '=&;:%+~,*@!()/?'

const bytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))

let app: TestServer
beforeAll(async () => {
  app = await startServer()
})
afterAll(() => app.close())

/** Sends a raw query to a public resource. */
const ask = async (server: TestServer, query: string, path = '/api/public') => {
  const { status, text } = await rawHttp(server, { target: `${path}?${query}` })
  return { status, text }
}

/** Returns the characters that are accepted within a query, except `%` before two hexadecimal digits. */
const accepted = async (server: TestServer): Promise<string> => {
  const statuses = await Promise.all(bytes.map((character) => ask(server, `x=${character}1`)))
  return bytes.filter((_, code) => statuses[code]?.status === 200).join('')
}

const sorted = (text: string): string => [...new Set(text)].sort().join('')

describe('decision §6.2 characters of a query string', () => {
  test('accepts only unreserved and specified characters [T778]', async () => {
    expect(sorted(await accepted(app))).toBe(sorted(`${unreserved}${specified.replace('%', '')}`))
  })

  test.each([
    '',
    'a',
    '=',
    '&&',
    '?',
    '%41',
    '%ff',
    '%FF',
    '%00',
    '%0D%0A',
    '%25',
    '%%34'.slice(1),
    'a=%C3%A9&b=%F0%9F%98%80',
    '%22%3C%3E%5B%5D',
    'x=a/b?c:d@e!f(g)h*i,j;k+l~m',
  ])('accepts "%s"', async (query) => {
    expect((await ask(app, query)).status).toBe(200)
  })

  test.each([
    '%',
    '%4',
    'a=%',
    'a=%4',
    '%zz',
    '%4g',
    '%g4',
    '%%41',
    '%u0041',
    '%-1',
    '%+1',
    'a%=b',
    '%4%31',
    '[',
    'a[]=1',
    '{}',
    'a|b',
    "it's",
    '$a',
    '"',
    '<script>',
    'a\\b',
    '`',
    '^',
    '#',
    'a#b',
  ])('returns 400 invalid_request for "%s"', async (query) => {
    const { status, text } = await ask(app, query)
    expect(status).toBe(400)
    expect(JSON.parse(text)).toEqual({
      error: 'invalid_request',
      error_description: expect.stringMatching(
        query.includes('%')
          ? /^The query string contains a % that is not followed by two hexadecimal digits\.$/
          : /^The query string contains the character [!-~]+, which/,
      ),
    })
  })

  test.each([
    ['a=<', '<'],
    ['a="', 'U+0022'],
    ['a\\b', 'U+005C'],
    ['$a', '$'],
  ])('names the refused character of %s, and the setting that refuses it', async (query, name) => {
    const { text } = await ask(app, query)
    expect(JSON.parse(text).error_description).toBe(
      `The query string contains the character ${name}, which the setting allowedUrlencodeCharacters (OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS) does not allow.`,
    )
  })

  test.each(['\xC3\xA9', 'a=b&c=\xFF', '\u0000', '\u007F'])(
    'returns 400 for the raw bytes %j',
    async (query) => {
      expect((await ask(app, query)).status).toBe(400)
    },
  )

  test('checks the query before any credential, for every method and for unknown paths', async () => {
    const token = await app.personalToken()
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'])
      for (const path of ['/api/me', '/api/public', '/api/absent']) {
        for (const headers of [
          [],
          ['Authorization: Bearer bad'],
          [`Authorization: Bearer ${token}`],
        ]) {
          const response = await rawHttp(app, { method, target: `${path}?a=[`, headers })
          expect(response.status).toBe(400)
          expect(response.headers.get('www-authenticate')).toBeNull()
        }
      }
  })

  test('checks the query of an absolute target, but not its host and path', async () => {
    const target = 'http://example.org/api/public'
    expect((await rawHttp(app, { target: `${target}?a=[` })).status).toBe(400)
    expect((await rawHttp(app, { target: `${target}?a=b` })).status).toBe(200)
    expect((await rawHttp(app, { target })).status).toBe(200)
  })

  test('does not check the characters of the path', async () => {
    expect((await rawHttp(app, { target: '/api/[x]|{y}?a=b' })).status).toBe(404)
  })

  test.each(['/', '/login', '/.well-known/oauth-authorization-server', '/oauth/style.css'])(
    'does not check the query of %s, which does not use rest() [T750]',
    async (path) => {
      expect((await ask(app, 'a[]=1&b=|{}', path)).status).toBe(200)
    },
  )
})

describe('OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS', () => {
  test.each([
    ['no characters', ''],
    ['an equals sign, an ampersand, brackets and braces', '=&[]{}'],
    ['special characters of a regular expression class', '^-]\\['],
    ['a range of a regular expression', '!-/'],
    ['special characters of a regular expression', '.*+?$|()'],
    ['all of ASCII', bytes.slice(0x21, 0x7f).join('')],
  ])(
    'accepts exactly the configured characters: %s [T749]',
    async (_, allowedUrlencodeCharacters) => {
      await using own = await startServer({ allowedUrlencodeCharacters })
      // The query contains no equals sign, because not every tested setting allows it.
      const statuses = await Promise.all(bytes.map((character) => ask(own, `x${character}1`)))
      const found = bytes.filter((_, code) => statuses[code]?.status === 200).join('')
      expect(sorted(found)).toBe(
        sorted(`${unreserved}${allowedUrlencodeCharacters.replace('%', '')}`),
      )
      expect((await ask(own, 'x%41')).status).toBe(
        allowedUrlencodeCharacters.includes('%') ? 200 : 400,
      )
      expect((await ask(own, 'x%4')).status).toBe(400)
    },
  )

  test.each([' ', 'a b', '\u0000', '\n', 'é', '\u007F'])(
    'rejects the setting "%s" at start-up',
    async (characters) => {
      await expect(startServer({ allowedUrlencodeCharacters: characters })).rejects.toThrow(
        'OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS',
      )
    },
  )
})
