import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AuthorizationServer } from 'svc-oauth2server'
import { controlled, type ServerSettings } from '../contracts/adapter/control.ts'
import type { Embedded } from '../contracts/adapter/harness.ts'
import { adapterContract } from '../contracts/adapter-contract.ts'

/** How an application embeds the server. */
export interface Variant {
  /** The path of the issuer, which is also the path of the application; empty at the root. */
  readonly basePath: string
  /** Whether the application's own body parsers run before the server. */
  readonly parsesBodies: boolean
  /** Whether a router that rewrites paths mounts the server below the prefix. */
  readonly mountsInside: boolean
}

/** An application that listens on a port of this machine. */
export interface Listening {
  readonly port: number
  close(): Promise<void>
}

/** Starts the application of one adapter. */
export type Host = (server: AuthorizationServer, variant: Variant) => Promise<Listening>

const variants: Readonly<Record<string, Variant & { readonly settings: ServerSettings }>> = {
  'at the root': {
    basePath: '',
    parsesBodies: false,
    mountsInside: false,
    settings: { issuer: 'http://localhost' },
  },
  'behind a proxy, after body parsers, under prefixes': {
    basePath: '/a/shop',
    parsesBodies: true,
    mountsInside: true,
    settings: {
      issuer: 'https://notes.example/a/shop',
      oauthPrefix: '/connect/oauth2',
      loginPath: '/sign-in',
      logoutPath: '/sign-out',
      trustedProxies: ['127.0.0.0/8', '::1'],
    },
  },
}

/** Runs the adapter contract with the simplest and the most complex embedding. */
export const describeAdapter = (name: string, host: Host): void => {
  for (const [title, { settings, ...variant }] of Object.entries(variants))
    adapterContract(`${name}, ${title}`, () => embed(host, variant, settings))
}

const embed = async (host: Host, variant: Variant, settings: ServerSettings): Promise<Embedded> => {
  const { server, control, place } = await controlled(settings)
  const { port, close } = await host(server, variant)
  return {
    url: `http://localhost:${port}${variant.basePath}`,
    place,
    control,
    async [Symbol.asyncDispose]() {
      await close()
      await server.close()
    },
  }
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Waits until the server listens. */
export const listening = async (server: Server): Promise<Listening> => {
  if (!server.listening) {
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve).once('error', reject)
    })
  }
  return {
    port: portOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
