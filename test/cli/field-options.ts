/** The option for each field whose name differs from the name of the option. */
const otherNames: Readonly<Record<string, string>> = {
  scopes: 'scope',
  default_scopes: 'scope',
  optional_scopes: 'optional-scope',
  redirect_uris: 'redirect-uri',
  post_logout_redirect_uris: 'post-logout-redirect-uri',
  is_confidential: 'public',
  application_type: 'public',
  expires: 'expires-in',
  expiry: 'expires-in',
  time_zone: 'expires-in',
}

/** Returns the name of the option that sets a field of a form. */
export const optionOf = (field: string): string => otherNames[field] ?? field.replaceAll('_', '-')
