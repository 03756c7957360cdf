import { z } from 'zod'
import { type ProtectedResource, resourceNamed } from '../model/protected-resource.ts'
import { InvalidSettings } from './invalid-settings.ts'
import { json, list } from './setting-types.ts'

const texts = z.array(z.string().min(1))

const described = z
  .array(
    z.strictObject({
      resource: z.string(),
      name: z.string().exactOptional(),
      scopes: texts.exactOptional(),
      introspectionClients: texts.exactOptional(),
      documentation: z.string().exactOptional(),
    }),
  )
  .readonly()

/**
 * Reads the resources from `OAUTH2SERVER_RESOURCES`. Adds the clients in `OAUTH2SERVER_INTROSPECTION_CLIENTS` to every
 * resource, so that these clients may introspect all tokens.
 * @param issuer the identifier of the whole application, which is always a resource
 * @throws InvalidSettings if `OAUTH2SERVER_RESOURCES` is neither a list of URLs nor a JSON array of resources
 */
export const resourcesFrom = (
  env: Readonly<Record<string, string | undefined>>,
  issuer: string,
): readonly ProtectedResource[] => {
  const resources = described.safeParse(given(env.OAUTH2SERVER_RESOURCES ?? ''))
  if (!resources.success)
    throw new InvalidSettings([
      'OAUTH2SERVER_RESOURCES accepts a comma-separated list of URLs, or a JSON array of objects with the members resource, name, scopes, introspectionClients and documentation.',
    ])
  const clients = list(env.OAUTH2SERVER_INTROSPECTION_CLIENTS ?? '') as readonly string[]
  return withClients(resources.data, clients, issuer)
}

const given = (text: string): unknown => {
  if (text.trimStart().startsWith('[')) return json(text)
  return (list(text) as readonly string[]).map((resource) => ({ resource }))
}

/** Adds clients that may introspect the tokens of every resource, including the whole application. */
export const withClients = (
  resources: readonly ProtectedResource[],
  clients: readonly string[],
  issuer: string,
): readonly ProtectedResource[] => {
  if (clients.length === 0) return resources
  const all = resourceNamed(resources, issuer) ? resources : [{ resource: issuer }, ...resources]
  return all.map(({ introspectionClients = [], ...resource }) => ({
    ...resource,
    introspectionClients: [...introspectionClients, ...clients],
  }))
}
