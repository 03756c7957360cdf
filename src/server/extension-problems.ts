import { nameProblems } from '../protocol/extension-names.ts'
import { builtInExtensions } from '../protocol/extensions/built-in.ts'
import { builtInGrants } from '../protocol/grants/built-in.ts'
import type { Endpoint, Extension, Grant } from '../protocol/plug-ins.ts'
import type { Settings } from '../settings/settings.ts'

// RFC 6749 §4.5: an extension grant type is an absolute URI. A short name could conflict with a later standard.
const absoluteUri = /^[a-z][a-z0-9+.-]*:[\x21\x23-\x5B\x5D-\x7E]+$/i

/** Returns the values that occur more than once, or that also occur in `others`. */
const repeated = (values: readonly string[], others: readonly string[]): readonly string[] => [
  ...new Set(
    values.filter((value, index) => others.includes(value) || values.indexOf(value) !== index),
  ),
]

/** Returns the problems of the application's extensions; empty if they are valid. */
export const extensionProblems = (extensions: readonly Extension[]): readonly string[] => {
  const grants = extensions.flatMap(({ grants = [] }) => grants)
  const codes = extensions.flatMap(({ names }) => Object.keys(names?.declared.errors ?? {}))
  const problems = extensions.flatMap(({ name, names, grants = [] }) => [
    ...nameProblems(name, names).map((why) => `${JSON.stringify(name)}: ${why}`),
    ...grants
      .filter((grant) => !isBuiltIn(grant) && !absoluteUri.test(grant.type))
      .map(({ type }) => `${JSON.stringify(name)}: the grant type ${type} must be an absolute URI`),
  ])
  const duplicates = [
    ...repeated(namesOf(extensions), namesOf(builtInExtensions)),
    ...repeated(typesOf(grants), typesOf(builtInGrants)),
    ...repeated(codes, []),
  ]
  return [...problems, ...duplicates.map((value) => `${JSON.stringify(value)} is taken`)].map(
    (problem) => `extensions: ${problem}.`,
  )
}

const namesOf = (extensions: readonly Extension[]) => extensions.map(({ name }) => name)
const typesOf = (grants: readonly Grant[]) => grants.map(({ type }) => type)
const isBuiltIn = (grant: Grant): boolean => typesOf(builtInGrants).includes(grant.type)

/** Returns the problems of the paths of endpoints, such as two endpoints with the same path. */
export const addressProblems = (
  endpoints: readonly Endpoint[],
  settings: Settings,
): readonly string[] => {
  const paths = endpoints.map((endpoint) => endpoint.path(settings))
  const invalid = paths.filter((path) => !path.startsWith('/') || /[?#\s]/.test(path))
  const normalized = paths.map((path) => path.replace(/(?<=.)\/$/, '').replaceAll(/:[^/]+/g, ':'))
  return [
    ...invalid.map((path) => `extensions: ${JSON.stringify(path)} is not a path.`),
    ...repeated(normalized, []).map((path) => `extensions: two endpoints have the path ${path}.`),
  ]
}
