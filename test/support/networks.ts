import { execFile } from 'node:child_process'
import { connect, createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'

const run = promisify(execFile)

const ip = async (...args: readonly string[]): Promise<string> =>
  (await run('ip', [...args])).stdout

/** A network bridge with IP addresses for this process and its services, and a network namespace for each node. */
export interface Networks extends AsyncDisposable {
  /** The subnet of the bridge, such as `10.201.7.0/24`. */
  readonly subnet: string
  readonly postgres: string
  readonly redis: string
  address(index: number): string
  namespace(index: number): string
  /** Drops all packets from a node to an IP address, without an error for the sender. */
  dropFrom(index: number, to: string): Promise<void>
  /** Drops all packets from a service to a node, without an error for the sender. */
  dropTo(index: number, from: string): Promise<void>
  heal(): Promise<void>
}

const prefix = 'o2t'
/** A MAC address that no interface has. Frames to this address are lost. */
const nowhere = '02:00:00:00:00:01'

/**
 * Creates the networks. Call this only if `lacks('own networks')` is false. The names contain the ID of this process,
 * so that a later run can remove the networks of a killed run.
 */
export const makeNetworks = async (count: number): Promise<Networks> => {
  await removeStale()
  const { pid } = process
  const net = `10.${200 + (pid % 50)}.${Math.floor(pid / 50) % 250}`
  const bridge = `${prefix}${pid}`
  const namespace = (index: number) => `${bridge}n${index}`
  const address = (index: number) => `${net}.${11 + index}`
  const [postgres, redis] = [`${net}.2`, `${net}.3`]
  const heals: (() => Promise<unknown>)[] = []
  const heal = async () => {
    for (const one of heals.splice(0)) await one()
  }
  const networks: Networks = {
    subnet: `${net}.0/24`,
    postgres,
    redis,
    address,
    namespace,
    async dropFrom(index, to) {
      const neighbour = [to, 'dev', 'eth0']
      const inside = ['-n', namespace(index), 'neigh']
      await ip(...inside, 'replace', ...neighbour, 'lladdr', nowhere, 'nud', 'permanent')
      heals.push(() => ip(...inside, 'del', ...neighbour))
    },
    async dropTo(index, from) {
      const rule = ['from', from, 'to', address(index), 'blackhole']
      await ip('rule', 'add', ...rule)
      heals.push(() => ip('rule', 'del', ...rule))
    },
    heal,
    async [Symbol.asyncDispose]() {
      await heal()
      await remove(bridge)
    },
  }
  try {
    await ip('link', 'add', bridge, 'type', 'bridge')
    for (const own of [`${net}.1`, postgres, redis])
      await ip('addr', 'add', `${own}/24`, 'dev', bridge)
    await ip('link', 'set', bridge, 'up')
    for (let index = 0; index < count; index += 1) {
      const name = namespace(index)
      await ip('netns', 'add', name)
      await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
      await ip('link', 'set', name, 'master', bridge, 'up')
      await ip('-n', name, 'link', 'set', 'lo', 'up')
      await ip('-n', name, 'addr', 'add', `${address(index)}/24`, 'dev', 'eth0')
      await ip('-n', name, 'link', 'set', 'eth0', 'up')
    }
  } catch (error) {
    await networks[Symbol.asyncDispose]()
    throw error
  }
  return networks
}

/** Removes a bridge and its namespaces. The kernel then removes the links between them. */
const remove = async (bridge: string): Promise<void> => {
  for (const line of (await ip('netns', 'list')).split('\n')) {
    const [name = ''] = line.split(' ')
    if (name.startsWith(`${bridge}n`)) await ip('netns', 'del', name)
  }
  await ip('link', 'del', bridge).catch(() => undefined)
}

/** Removes the networks of killed runs. */
const removeStale = async (): Promise<void> => {
  const links = await ip('-o', 'link', 'show', 'type', 'bridge')
  for (const [, bridge = '', pid] of links.matchAll(/^\d+: (o2t(\d+)):/gm))
    if (!isAlive(Number(pid))) await remove(bridge)
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Forwards connections to a port of this machine to the same port of another IP address. */
export const forward = async (port: number, address: string): Promise<AsyncDisposable> => {
  const ends = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, address)
    for (const end of [near, far]) {
      ends.add(end)
      end.on('error', () => undefined).once('close', () => ends.delete(end))
    }
    near.pipe(far).pipe(near)
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const end of ends) end.destroy()
      await closed
    },
  }
}
