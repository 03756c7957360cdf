import { StoreUnusable } from '../contract/errors.ts'

/** Where Redis is, and as whom to use it. */
export interface RedisAddress {
  /** Several are nodes of one cluster. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly tls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
  /** The same as a text without user and password. */
  readonly description: string
}

const standardPort = 6379

/**
 * Reads `redis://user:password@host:port/database`, or several addresses of a cluster with commas in between.
 * @throws StoreUnusable, which does not repeat what was given: there may be a password in it
 */
export const parseAddress = (text: string): RedisAddress => {
  const [first, ...others] = text.split(',').map((part) => part.trim())
  const { protocol, username, password, pathname } = parse(first ?? '')
  const urls = [first, ...others].map((part = '') =>
    parse(part.includes('://') ? part : `${protocol}//${part}`),
  )
  if (urls.some((url) => url.protocol !== protocol))
    throw refusal('All addresses of a cluster begin with redis:// or all with rediss://.')
  if (urls.slice(1).some((url) => url.username !== '' || url.password !== ''))
    throw refusal(
      'User and password stand in the first address of a cluster, for all of its nodes.',
    )
  const database = Number(pathname.slice(1))
  if (others.length > 0 && urls.some((url) => url.pathname.length > 1))
    throw refusal('A cluster has no numbered databases.')
  return {
    nodes: urls.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? standardPort : Number(port),
    })),
    tls: protocol === 'rediss:',
    username: decoded(username),
    password: decoded(password),
    database,
    description: `${urls.map((url) => `${protocol}//${url.host}`).join(',')}${database === 0 ? '' : `/${database}`}`,
  }
}

const parse = (part: string): URL => {
  if (!URL.canParse(part)) throw refusal('It is no address.')
  const url = new URL(part)
  const { protocol, hostname, pathname, search, hash } = url
  if (protocol !== 'redis:' && protocol !== 'rediss:')
    throw refusal('It begins with redis://, or with rediss:// for TLS.')
  if (hostname === '' || !/^(?:\/\d{0,5})?$/.test(pathname) || search !== '' || hash !== '')
    throw refusal('Behind the host stand its port and the number of a database, and nothing else.')
  return url
}

const decoded = (text: string): string | undefined => {
  try {
    return text === '' ? undefined : decodeURIComponent(text)
  } catch {
    throw refusal('A percent sign in user or password is written %25.')
  }
}

const refusal = (why: string): StoreUnusable =>
  new StoreUnusable(
    `The address of Redis cannot be read. ${why} Accepted: redis://user:password@host:6379/0, or several addresses of a cluster, separated by commas.`,
  )
