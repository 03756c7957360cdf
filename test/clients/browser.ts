import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UserAgent } from '../support/user-agent.ts'
import type { ClientsServer } from './server.ts'

/**
 * An HTTP server that simulates a browser and its user. A program requests `/?url=…` with an authorization URL, or with
 * the verification URL of a device. The simulated user logs in and consents. The response contains the final URL.
 */
export interface Browser {
  readonly url: string
  close(): Promise<void>
}

/** Starts a simulated browser for the given servers. */
export const startBrowser = async (servers: readonly ClientsServer[]): Promise<Browser> => {
  const http = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://127.0.0.1').searchParams.get('url') ?? ''
    try {
      const server = servers.find(({ issuer }) => url.startsWith(issuer))
      if (!server) throw new Error(`No server has the URL ${url}.`)
      const arrived = await visit(server, url)
      response.end(arrived)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    async close() {
      http.close()
      http.closeAllConnections()
    },
  }
}

const visit = async (server: ClientsServer, url: string): Promise<string> => {
  const agent = new UserAgent()
  if (!url.includes('/device')) return (await agent.authorize(server, url)).href
  await agent.logIn(server)
  const codePage = await agent.browse(url)
  const user_code = new URL(url).searchParams.get('user_code') ?? ''
  const consent = Object.assign(await agent.submit(codePage, { user_code }), { address: url })
  const { status } = await agent.submit(consent, { confirm: 'yes' })
  if (status !== 200) throw new Error(`The consent to the device returned ${status}.`)
  return url
}
