export type StoreKind = 'sqlite' | 'postgres'

/** A measured server: a file in `servers`, and the configuration of the server. */
export interface Definition {
  readonly name: string
  /** The name in the tables of the results. */
  readonly title: string
  readonly file: string
  /** The role in the comparison. A floor is a minimal server, which does not check credentials. */
  readonly role: 'floor' | 'ours' | 'peer'
  readonly stores: readonly StoreKind[]
  readonly environment?: Readonly<Record<string, string>>
  /** The installed packages of the server. The version of the first package is the version of the server. */
  readonly packages?: readonly string[]
}

const both = ['sqlite', 'postgres'] as const
const ours = {
  file: 'ours.ts',
  role: 'ours',
  stores: both,
  packages: ['svc-oauth2server'],
} as const
const peer = { role: 'peer', stores: both } as const

export const definitions: readonly Definition[] = [
  { name: 'floor', title: 'floor', file: 'floor.ts', role: 'floor', stores: both },
  {
    name: 'floor-same',
    title: 'floor of our statements',
    file: 'floor-same.ts',
    role: 'floor',
    stores: both,
  },
  { ...ours, name: 'ours', title: 'svc-oauth2server' },
  {
    ...ours,
    name: 'ours-alone',
    title: 'svc-oauth2server, batches off',
    environment: { BENCH_BATCH: 'off' },
  },
  {
    ...peer,
    name: 'oidc-provider',
    title: 'oidc-provider',
    file: 'peers/oidc-provider.ts',
    packages: ['oidc-provider'],
  },
  {
    ...peer,
    name: 'oidc-provider-memory',
    title: 'oidc-provider, in memory',
    file: 'peers/oidc-provider.ts',
    environment: { BENCH_MEMORY: 'on' },
    packages: ['oidc-provider'],
  },
  {
    ...peer,
    name: 'node-oauth',
    title: '@node-oauth/oauth2-server',
    file: 'peers/node-oauth.ts',
    packages: ['@node-oauth/oauth2-server'],
  },
  {
    ...peer,
    name: 'node-oauth-reading',
    title: '@node-oauth/oauth2-server, client read',
    file: 'peers/node-oauth.ts',
    environment: { BENCH_CLIENT: 'read' },
    packages: ['@node-oauth/oauth2-server'],
  },
  {
    ...peer,
    name: 'jmondi',
    title: '@jmondi/oauth2-server',
    file: 'peers/jmondi.ts',
    packages: ['@jmondi/oauth2-server'],
  },
  {
    ...peer,
    name: 'better-auth',
    title: 'better-auth',
    file: 'peers/better-auth.ts',
    packages: ['better-auth', '@better-auth/oauth-provider', '@better-auth/api-key'],
  },
]
