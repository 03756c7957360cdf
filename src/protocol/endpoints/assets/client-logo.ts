import type { Client } from '../../../model/client.ts'
import type { Endpoint } from '../../plug-ins.ts'
import type { Configuration, Identity } from '../../server-context.ts'
import { notFound } from '../responses/problem.ts'

/** Serves the stored logo of a verified client. The URL contains the digest of the image. */
export const clientLogoEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/logos/:digest`,
  methods: ['GET'],
  errors: 'json',
  async handle(request, { logos }) {
    const logo = await logos.find(request.param('digest'))
    if (!logo) throw notFound()
    return new Response(new Uint8Array(logo.bytes), {
      headers: {
        'content-type': logo.type,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        // If a browser opens the image as a document, the document can neither run scripts nor load resources.
        'content-security-policy': "default-src 'none'; sandbox",
        'cross-origin-resource-policy': 'same-origin',
      },
    })
  },
}

/** Returns the URL of a client's logo; null if the client is not verified or has no stored logo. */
export const logoUrlOf = (
  { isVerified, logo }: Pick<Client, 'isVerified' | 'logo'>,
  { basePath, settings }: Identity & Configuration,
): string | null =>
  isVerified && logo !== null ? `${basePath}${settings.oauthPrefix}/logos/${logo}` : null
