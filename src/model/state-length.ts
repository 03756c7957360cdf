const maxLength = 4_096
/**
 * The maximum length of a `state` after percent-encoding. The header `Location` with the URI, the state and the other
 * values must stay below the 16 KB that many servers and clients accept for all headers.
 */
const maxEncodedLength = 8_192

/** Returns why a `state` cannot be returned to the client; undefined if it can. */
export const stateProblem = (state: string | undefined): string | undefined =>
  state !== undefined &&
  // Count as `withQuery` encodes the state: a form may contain a blank as one character.
  (state.length > maxLength || encodeURIComponent(state.toWellFormed()).length > maxEncodedLength)
    ? `state is longer than ${maxLength} characters, or than ${maxEncodedLength} after percent-encoding.`
    : undefined
