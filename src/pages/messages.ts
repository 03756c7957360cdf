/** Every text of the pages. One object per language. */
export const messages = {
  login: {
    title: 'Log in',
    email: 'E-mail address',
    password: 'Password',
    submit: 'Log in',
    wrong: 'The e-mail address or the password is wrong.',
    stale: 'This page was open for too long, or cookies are blocked. Please try again.',
    foreign: 'This form was sent from another site. Please log in here.',
  },
  home: {
    title: 'Authorization server',
    nobody: 'Nobody is logged in.',
    user: 'You are logged in as',
    login: 'Log in',
    logout: 'Log out',
  },
  consent: {
    title: (client: string) => `Allow ${client}?`,
    asks: 'wants to act for you. It asks for permission to:',
    nothing: 'wants to know that you are you. It gets no further permission.',
    otherGroup: 'Other',
    user: 'You are logged in as',
    owner: 'Registered by',
    website: 'Website',
    destination: 'You will be sent to',
    local: 'a program on this very computer',
    accept: 'Allow',
    refuse: 'Refuse',
  },
  error: {
    title: 'This did not work',
    explanation: {
      invalid_request:
        'The application sent a request that cannot be used. This is most likely a mistake of the application, not yours.',
      access_denied: 'The permission was refused.',
      server_error: 'Something went wrong on our side.',
      temporarily_unavailable: 'The service is not available right now.',
    } as Readonly<Record<string, string>>,
    unknown:
      'The application and this server could not agree. This is most likely a mistake of the application, not yours.',
    advice:
      'Go back to the application and try again. If it happens again, tell its maker the code below.',
    code: 'Error code',
    details: 'Details',
    home: 'To the start page',
  },
  problem: {
    title: 'This did not work',
    stale: 'This page was open for too long. Please decide again.',
    foreign: 'This form does not belong to your session. Nothing was done.',
    loggedOut: 'You are not logged in any more. Go back to the application and begin again.',
    decided:
      'This request was answered already, or has expired. Go back to the application and begin again.',
    undecided: 'Neither Allow nor Refuse was chosen. Go back and choose one.',
    clientChanged: 'The application has changed or is no longer there. Nothing was done.',
    notFound: 'There is nothing at this address.',
    notFoundTitle: 'Not found',
    failed: 'Something went wrong on our side. Please try again later.',
    unavailable: 'The service is not available right now. Please try again in a moment.',
  },
} as const
