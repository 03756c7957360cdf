import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Secret, watchSecrets } from './drawn.ts'

/** Patterns of secrets: a JWT, the content of an `Authorization` header, a private key. */
const shapes = [
  /eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/,
  /(?:Basic|Bearer|DPoP) +(?!resource_metadata)[\w\-.~+/]{20,}/i,
  /"d":"[\w-]{20,}"/,
  /PRIVATE KEY-----/,
]
/**
 * The length of the blocks into which a random text is divided. Any 21 characters of the text contain a whole block,
 * and a block is too long to occur elsewhere by chance.
 */
const block = 11
const longRuns = /[\w-]{21,}/g
/** The number of blocks that remain for the next test file, because the server draws random bytes in advance. */
const drawnAhead = 10_000
// A client ID is random, but not a secret (RFC 6749 §2.2).
const clientId = /"(?:clientId|client_id|oldClientId)":"([^"]+)"/g

/** Searches logs and errors for secrets. */
export class SecretNet {
  readonly #random = new Set<string>()
  readonly #whole = new Set<string>()
  #texts: { where: string; text: string }[] = []

  addSecret({ kind, text }: Secret): void {
    if (kind === 'whole') this.#whole.add(text)
    else
      for (let start = 0; start + block <= text.length; start += block)
        this.#random.add(text.slice(start, start + block))
  }

  /**
   * Removes the passwords and keys of earlier tests, because a text that one test file used as a password may be
   * ordinary text in another.
   */
  forgetInputs(): void {
    this.#whole.clear()
  }

  /** Adds a log entry, an error, or other written text. */
  addText(where: string, what: unknown): void {
    const text = typeof what === 'string' ? what : JSON.stringify(what, withErrors)
    if (text) this.#texts.push({ where, text })
  }

  /** Returns the written texts that contain a secret, and removes all texts. */
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

// Formats errors like `logTo`, and adds the message if the stack does not contain it.
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
  watchSecrets((secret) => net.addSecret(secret))
  const folder = mkdtempSync(join(tmpdir(), 'oauth2server-secrets-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return { net, file: join(folder, 'secrets') }
}

const installed = (): Installed => {
  place[symbol] ??= install()
  return place[symbol]
}

/** The secret detector of all tests of a file. */
export const secretNet = (): SecretNet => installed().net

/** The file in which the programs of a test report their secrets: `TEST_SECRETS`. */
export const secretsFile = (): string => installed().file

/** The module that programs load with `node --import` to report their secrets. */
export const reportModule: string = join(import.meta.dirname, 'tell.ts')

/** Reads the reports of programs since the last call. */
export const readReports = (): void => {
  const { net, file } = installed()
  if (!existsSync(file)) return
  for (const line of readFileSync(file, 'utf8').split('\n'))
    if (line.endsWith('}')) net.addSecret(JSON.parse(line) as Secret)
  rmSync(file)
}
