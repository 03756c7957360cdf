export interface FormResponse {
  readonly status: number
  readonly headers: Headers
  /** The parsed body if it is JSON; otherwise the text of the body. */
  readonly body: Record<string, unknown>
}

/** Returns the value of an `Authorization` header with the ID and secret of a client. */
export const basicOf = ({
  clientId,
  clientSecret,
}: {
  clientId: string
  clientSecret: string
}) => ({
  authorization: `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}`,
})

/** Posts a form. The fields may also be raw text, or name-value pairs in which a name may occur twice. */
export const postForm = async (
  url: string,
  fields: Record<string, string> | string | readonly [string, string][],
  headers: Record<string, string> = {},
): Promise<FormResponse> => {
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
    redirect: 'manual',
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as Record<string, unknown>) : { text },
  }
}
