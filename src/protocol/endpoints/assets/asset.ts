import { sha256 } from '../../../crypto/digest.ts'
import type { HttpRequest } from '../../../http/request.ts'

/** A stylesheet or script that all pages load, with its `ETag`. */
export interface Asset {
  readonly text: string
  readonly contentType: string
  readonly etag: string
}

export const assetOf = (text: string, contentType: string): Asset => ({
  text,
  contentType,
  etag: `"${sha256(text)}"`,
})

/**
 * Returns the asset, or 304 if `If-None-Match` contains its `ETag`. Browsers must revalidate the asset before each use,
 * because a new release may change the asset.
 */
export const assetResponse = (
  http: Pick<HttpRequest, 'header'>,
  { text, contentType, etag }: Asset,
): Response => {
  const common = { 'cache-control': 'public, no-cache', etag, 'x-content-type-options': 'nosniff' }
  const known = http.header('if-none-match')?.split(',') ?? []
  if (known.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, ''))))
    return new Response(null, { status: 304, headers: common })
  return new Response(text, { headers: { ...common, 'content-type': contentType } })
}
