import type { SeededRandom } from '../support/seeded-random.ts'
import type { Mutation } from './mutate-structure.ts'
import type { Pair } from './shape.ts'

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const claimsOf = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return {}
  }
}

const oddValue = (r: SeededRandom): unknown =>
  r.pick([
    null,
    0,
    -1,
    1e300,
    '',
    'x',
    [],
    {},
    true,
    ['x'],
    '__proto__',
    'none',
    'HS256',
    'RS256',
    'https://evil.example',
  ])

const header = ['alg', 'typ', 'kid', 'jwk', 'jku', 'x5u', 'crit', 'b64', 'enc', 'zip']
const claims = [
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'htm',
  'htu',
  'ath',
  'nonce',
  'sid',
  'scope',
  'client_id',
  'cnf',
  'act',
]

/** Alters one part of a JWT. */
const altered = (jwt: string, r: SeededRandom): string => {
  const [head = '', payload = '', signature = ''] = jwt.split('.')
  const changes = [
    () => `${part({ ...claimsOf(head), [r.pick(header)]: oddValue(r) })}.${payload}.${signature}`,
    () => `${head}.${part({ ...claimsOf(payload), [r.pick(claims)]: oddValue(r) })}.${signature}`,
    () => `${part({ ...claimsOf(head), alg: 'none' })}.${payload}.`,
    () => `${head}.${payload}.`,
    () => `${head}.${payload}`,
    () => `${head}..${signature}`,
    () => `${head}.${payload}.${signature}.${signature}`,
    () => `..${signature}`,
    () => '..',
    () => `${head}.${payload}.${signature.slice(0, -2)}`,
    () => `${head}.${payload}.${signature}=`,
    () => `${Buffer.from('[]').toString('base64url')}.${payload}.${signature}`,
    () => `${head}.${Buffer.from('null').toString('base64url')}.${signature}`,
    () => `${head}.${r.bytes(20).toString('base64url')}.${signature}`,
  ]
  return r.pick(changes)()
}

const flipped = (text: string, r: SeededRandom): string => {
  if (text === '') return 'x'
  const at = r.below(text.length)
  const letter = String.fromCharCode(text.charCodeAt(at) ^ (1 << r.below(7)))
  return `${text.slice(0, at)}${letter}${text.slice(at + 1)}`
}

const changed = (value: string, r: SeededRandom): string => {
  if (value.split('.').length === 3 && r.chance(70)) return altered(value, r)
  const changes = [
    () => flipped(value, r),
    () => flipped(value, r),
    () => value.slice(0, -1),
    () => `${value}x`,
    () => value.toLowerCase(),
    () => value.split('').reverse().join(''),
    () => value.repeat(3),
    // Alter only the checksum of a personal token.
    () => `${value.slice(0, -6)}000000`,
    () => `fuzz_${value}`,
    () => `${value} ${value}`,
    () => ` ${value}`,
  ]
  return r.pick(changes)()
}

const basic = (value: string, r: SeededRandom): string => {
  const text = Buffer.from(value, 'base64').toString()
  const forms = [
    'no colon',
    ':',
    `${text}:`,
    text.replace(':', '%3A'),
    `%${text}`,
    `${text}%f`,
    `${text}\u0000`,
    `ü${text}`,
    flipped(text, r),
    text.repeat(50),
  ]
  const written = Buffer.from(r.pick(forms)).toString('base64')
  return r.pick([
    written,
    written.replaceAll('=', ''),
    `${written}=`,
    `${written} x`,
    written.replace('A', '-'),
  ])
}

const credentials =
  /^(?:code|token|.*_token|.*secret|.*assertion|code_verifier|code_challenge|device_code|user_code|request|request_uri|client_id|authorization_request|device_confirmation|actor_token)$/

const inPairs = (pairs: readonly Pair[]): Pair[] =>
  pairs.filter(([name]) => typeof name === 'string' && credentials.test(name))

/** Mutates the credentials of a request: flips a bit, alters a part, or sends another kind of credential. */
export const credential: Mutation = (shape, r, nasty) => {
  const { body, query } = shape
  const pairs = [...inPairs(query), ...(body.kind === 'form' ? inPairs(body.pairs) : [])]
  const lines = shape.headers.filter(([name]) => /^(?:authorization|cookie|dpop)$/i.test(name))
  if (pairs.length + lines.length === 0) {
    shape.headers.push(['Authorization', `Bearer ${nasty.text(r)}`])
    return
  }
  const at = r.below(pairs.length + lines.length)
  const pair = pairs[at]
  if (pair) {
    pair[1] = changed(String(pair[1]), r)
    return
  }
  const line = lines[at - pairs.length] as [string, string]
  const [, scheme = '', value = ''] = /^(\w+[ =])?(.*)$/s.exec(line[1]) ?? []
  if (r.chance(15)) line[1] = `${r.pick(['Basic ', 'bearer ', 'DPoP ', 'Bearer  ', ''])}${value}`
  else line[1] = `${scheme}${/^basic/i.test(scheme) ? basic(value, r) : changed(value, r)}`
}
