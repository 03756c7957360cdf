export interface FormResponse {
  readonly status: number
  readonly headers: Headers
  /** Returns the parsed body if it is JSON, else the text. */
  readonly body: Record<string, unknown>
}

/** Returns a Basic header with ID and secret. */
export const basicOf = ({
  clientId,
  clientSecret,
}: {
  clientId: string
  clientSecret: string
}) => ({
  authorization: `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}`,
})

/** Posts a form; fields may be raw text, or pairs in which a name occurs twice. */
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
