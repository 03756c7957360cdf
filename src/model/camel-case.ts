/** Converts a name in snake case, as on the wire, to the name of a field: `client_id` to `clientId`. */
export const camelCase = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
