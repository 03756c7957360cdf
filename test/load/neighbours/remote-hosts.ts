import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { resolve } from 'node:path'

const pem = (name: string): string =>
  readFileSync(resolve(import.meta.dirname, '../../support/tls', `${name}.pem`), 'utf8')

const good = { name: 'client.example', address: '127.0.0.1' }
/** An unresponsive host in another network than the responsive host. */
const silent = { name: 'silent.example', address: '127.9.9.9' }

/** Returns the IP address of a remote host for the resolver of the server. */
export const addressOf = (hostname: string): string =>
  hostname.endsWith(silent.name) ? silent.address : good.address

export const authority = (): string => pem('authority')

/** Hosts of client ID metadata documents: one host that responds, and many hosts that never respond. */
export interface RemoteHosts {
  /** Returns the client ID of a valid document. Each number has a different path. */
  goodClientId(number: number): string
  /** Returns a client ID at an unresponsive host. Each number has a different host. */
  silentClientId(number: number): string
  close(): Promise<void>
}

export const redirectUri = 'https://client.example/cb'

export const remoteHosts = async (): Promise<RemoteHosts> => {
  const answering = createTlsServer(
    { cert: pem('site'), key: pem('site-key') },
    (request, response) => {
      const document = {
        client_id: `https://${good.name}:${port}${request.url}`,
        client_name: 'Remote',
        redirect_uris: [redirectUri],
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
    },
  )
  await new Promise<void>((done) => answering.listen(0, good.address, done))
  const { port } = answering.address() as AddressInfo
  const sockets = new Set<Socket>()
  const saying = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((done) => saying.listen(port, silent.address, done))
  return {
    goodClientId: (number) => `https://${good.name}:${port}/good-${number}.json`,
    silentClientId: (number) => `https://host-${number}.${silent.name}:${port}/client.json`,
    async close() {
      for (const socket of sockets) socket.destroy()
      answering.closeAllConnections()
      await Promise.all(
        [answering, saying].map(
          (server) => new Promise<void>((done) => server.close(() => done())),
        ),
      )
    },
  }
}
