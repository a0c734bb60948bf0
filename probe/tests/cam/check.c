/* Reads points, one a line, and prints the cost of the cam design problem and both approximations
 * of it (check.py). The arguments are the two points at which the approximations are made. */
#include "../../../examples/experiments/cam/cam.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  double at[4];
  for (int word = 0; word < 4; word += 1) at[word] = strtod(argv[word + 1], NULL);
  struct cam_known previous = cam_known(at[0], at[1]), current = cam_known(at[2], at[3]);
  struct cam_gca gca = cam_gca(&previous, &current);
  struct cam_tana3 tana3 = cam_tana3(&previous, &current);
  double x[2];
  while (scanf("%lf %lf", &x[0], &x[1]) == 2) {
    struct cam_known known = cam_known(x[0], x[1]);
    printf("%.17g %.17g %.17g %.17g %.17g\n", known.value, known.gradient[0], known.gradient[1],
        cam_gca_cost(&gca, x),
           cam_tana3_cost(&tana3, x));
  }
  return 0;
}
