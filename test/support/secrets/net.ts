import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Secret, watchSecrets } from './drawn.ts'

/** Secrets whatever their value: a JWT, what an `Authorization` header carries, a private key. */
const shapes = [
  /eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/,
  /(?:Basic|Bearer|DPoP) +(?!resource_metadata)[\w\-.~+/]{20,}/i,
  /"d":"[\w-]{20,}"/,
  /PRIVATE KEY-----/,
]
/**
 * Random texts are known by every eleventh character and the ten behind it: one such block lies within any 21
 * characters of them, and is no chance.
 */
const block = 11
const longRuns = /[\w-]{21,}/g
/** Blocks that are kept for the next file of tests: random bytes are drawn in advance. */
const drawnAhead = 10_000
// A client's id is random, and no secret (RFC 6749 §2.2).
const clientId = /"(?:clientId|client_id|oldClientId)":"([^"]+)"/g

/** Looks for secrets in what was written to logs and into errors. */
export class SecretNet {
  readonly #random = new Set<string>()
  readonly #whole = new Set<string>()
  #texts: { where: string; text: string }[] = []

  saw({ kind, text }: Secret): void {
    if (kind === 'whole') this.#whole.add(text)
    else
      for (let start = 0; start + block <= text.length; start += block)
        this.#random.add(text.slice(start, start + block))
  }

  /**
   * Passwords and keys of the tests before are no secrets any more: to another file of tests, the hostile text
   * that somebody tried as a password is a text like any other.
   */
  forgetGiven(): void {
    this.#whole.clear()
  }

  /** Something was written: an entry of the log, an error, or text. */
  wrote(where: string, what: unknown): void {
    const text = typeof what === 'string' ? what : JSON.stringify(what, withErrors)
    if (text) this.#texts.push({ where, text })
  }

  /** What of it holds a secret; afterwards all that was written is forgotten. */
  leaks(): readonly string[] {
    const texts = this.#texts
    this.#texts = []
    const known = new Set(
      texts.flatMap(({ text }) => [...text.matchAll(clientId)].map(([, id = '']) => id)),
    )
    const leaks = texts
      .filter(({ text }) => this.#holdsSecret(text, known))
      .map(({ where, text }) => `${where}: ${text.slice(0, 2_000)}`)
    this.#forgetOldest()
    return leaks
  }

  #forgetOldest(): void {
    for (const one of this.#random) {
      if (this.#random.size <= drawnAhead) return
      this.#random.delete(one)
    }
  }

  #holdsSecret(text: string, known: ReadonlySet<string>): boolean {
    if (shapes.some((shape) => shape.test(text))) return true
    if ([...this.#whole].some((secret) => text.includes(secret))) return true
    const runs = new Set(text.match(longRuns))
    return [...runs].some((run) => !known.has(run) && this.#isRandom(run))
  }

  #isRandom(run: string): boolean {
    for (let start = 0; start + block <= run.length; start += 1)
      if (this.#random.has(run.slice(start, start + block))) return true
    return false
  }
}

// As `logTo` writes them, with the message where the stack has another one.
const withErrors = (_: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return String(value)
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  return { name, message, stack, cause }
}

interface Installed {
  readonly net: SecretNet
  readonly file: string
}

const symbol = Symbol.for('svc-oauth2server secret net')
const place = globalThis as { [symbol]?: Installed }

const install = (): Installed => {
  const net = new SecretNet()
  watchSecrets((secret) => net.saw(secret))
  const folder = mkdtempSync(join(tmpdir(), 'oauth2server-secrets-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return { net, file: join(folder, 'secrets') }
}

const installed = (): Installed => {
  place[symbol] ??= install()
  return place[symbol]
}

/** The net below all tests of a file. */
export const secretNet = (): SecretNet => installed().net

/** Where programs of a test tell of theirs: `TEST_SECRETS`. */
export const secretsFile = (): string => installed().file

/** What programs load for it: `node --import`. */
export const tellSecrets: string = join(import.meta.dirname, 'tell.ts')

/** Takes what programs have told since. */
export const takeTold = (): void => {
  const { net, file } = installed()
  if (!existsSync(file)) return
  for (const line of readFileSync(file, 'utf8').split('\n'))
    if (line.endsWith('}')) net.saw(JSON.parse(line) as Secret)
  rmSync(file)
}
