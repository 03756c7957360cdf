import { StoreUnusable } from '../contract/errors.ts'

/** The address and the credentials of Redis. */
export interface RedisAddress {
  /** The node, or the nodes of a cluster. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly tls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
  /** The address without user and password. */
  readonly description: string
}

const standardPort = 6379

/**
 * Parses `redis://user:password@host:port/database`, or several addresses of a cluster, separated by commas.
 * @throws StoreUnusable if the text is invalid. The message does not repeat the address, because the address may
 * contain a password.
 */
export const parseAddress = (text: string): RedisAddress => {
  const [first, ...others] = text.split(',').map((part) => part.trim())
  const { protocol, username, password, pathname } = parse(first ?? '')
  const urls = [first, ...others].map((part = '') =>
    parse(part.includes('://') ? part : `${protocol}//${part}`),
  )
  if (urls.some((url) => url.protocol !== protocol))
    throw parseError(
      'All addresses of a cluster must begin with the same scheme: redis:// or rediss://.',
    )
  if (urls.slice(1).some((url) => url.username !== '' || url.password !== ''))
    throw parseError(
      'Give user and password only in the first address of a cluster; they apply to all nodes.',
    )
  const database = Number(pathname.slice(1))
  if (others.length > 0 && urls.some((url) => url.pathname.length > 1))
    throw parseError('A cluster has no numbered databases.')
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
  if (!URL.canParse(part)) throw parseError('It is not a URL.')
  const url = new URL(part)
  const { protocol, hostname, pathname, search, hash } = url
  if (protocol !== 'redis:' && protocol !== 'rediss:')
    throw parseError('It must begin with redis://, or with rediss:// for TLS.')
  if (hostname === '' || !/^(?:\/\d{0,5})?$/.test(pathname) || search !== '' || hash !== '')
    throw parseError('Only a port and the number of a database may follow the host.')
  return url
}

const decoded = (text: string): string | undefined => {
  try {
    return text === '' ? undefined : decodeURIComponent(text)
  } catch {
    throw parseError('A percent sign in user or password must be written as %25.')
  }
}

const parseError = (why: string): StoreUnusable =>
  new StoreUnusable(
    `The address of Redis cannot be read. ${why} Accepted: redis://user:password@host:6379/0, or several addresses of a cluster, separated by commas.`,
  )
