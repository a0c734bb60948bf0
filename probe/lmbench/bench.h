/* The name under which lmbench's programs ask for its interface; see ../lmbench.h. */
#include "../lmbench.h"
