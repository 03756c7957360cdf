import { z } from 'zod'
import type { clientChange, newClient } from '../../pages/forms/client.ts'
import { expires, newPersonalToken } from '../../pages/forms/personal-token.ts'
import { component } from '../../pages/shapes/shape.ts'
import type { Configuration } from '../../protocol/server-context.ts'

/** Returns the form of a new token for the document: `expires` cannot be null if the server limits the lifetime. */
export const newPersonalTokenOf = ({ settings }: Configuration): z.ZodType =>
  component(
    'NewPersonalToken',
    settings.tokenPersonalMaxExpiresIn === 0
      ? newPersonalToken
      : newPersonalToken.extend({ expires: expires.optional() }),
  )

/** Returns the form of a client for the document. Without OpenID Connect, the server ignores the logout fields. */
export const clientFormOf = <Form extends typeof newClient | typeof clientChange>(
  name: string,
  form: Form,
  { settings }: Configuration,
): z.ZodType => {
  const { post_logout_redirect_uris, backchannel_logout_uri, ...others } = form.shape
  return component(
    name,
    settings.openidConnect ? form : z.looseObject(others).describe(form.description ?? ''),
  )
}
