/**
 * A server process like `svc-oauth2server serve`, with fixed IP addresses of remote hosts. The parent process can call
 * methods of the server, as application code does.
 */
import { respond } from '../../../src/adapters/node-http.ts'
import { createAuthorizationServer } from '../../../src/index.ts'
import {
  closeOnSignal,
  fromEnvironment,
  listen,
} from '../../../src/server/environment/environment.ts'
import type { Order, OrderResponse } from './host-process.ts'
import { addressOf, authority } from './remote-hosts.ts'

const { options, host, port } = await fromEnvironment(process.env)
const server = await createAuthorizationServer({
  ...options,
  outbound: {
    resolve: async (hostname) => [{ address: addressOf(hostname), family: 4 }],
    certificateAuthorities: [authority()],
  },
})

const orders: Readonly<Record<Order['call'], (...args: never[]) => Promise<unknown>>> = {
  'clients.delete': (id: string) => server.clients.delete(id),
  'clients.makePublic': (id: string) => server.clients.update(id, { isConfidential: false }),
  'clients.resetClientId': (id: string) => server.clients.resetClientId(id),
  'users.delete': (id: number) => server.users.delete(id),
  sweep: () => server.sweep(),
}

process.on('message', async ({ number, call, args }: Order) => {
  const response: OrderResponse = await orders[call](...(args as never[])).then(
    () => ({ number }),
    (error: unknown) => ({ number, error: String(error) }),
  )
  process.send?.(response)
})

// Exit if the parent process exits or is killed.
process.once('disconnect', () => process.exit())

const http = await listen(respond(server), { port, host })
closeOnSignal(http, () => server.close(), { drain: server.drain })
process.send?.('listening')
